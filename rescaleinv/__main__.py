import sys

from rescaleinv.cli.main import main

sys.exit(main())
