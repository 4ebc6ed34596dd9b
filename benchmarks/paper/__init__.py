"""The tables of Montazery & Wilson (IJCAI 2017), made again from the real data: ``python -m benchmarks.paper.tables``."""
