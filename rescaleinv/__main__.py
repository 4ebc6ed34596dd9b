import sys

from rescaleinv.cli import main

sys.exit(main())
