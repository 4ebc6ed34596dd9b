"""What every room uses and nobody else needs: types, files, tables, progress, checks of parameters."""
