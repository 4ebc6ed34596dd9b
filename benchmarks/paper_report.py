def nearest_rule(r): return "misclassified"
def markdown(*a): return ""
