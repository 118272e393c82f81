"""Printed formulas as trees that other programs can evaluate, such as the script of a report.

A tree is a number, the name of a cell ("TP", "FN", "FP", "TN"), or a list of an operator and its arguments. Rates in a
formula are replaced by their definitions, so that the four cells are the only variables.
"""

from __future__ import annotations

import ast

__all__ = ["COMPUTED_FORMULAS", "Expression", "expression"]

Expression = float | str | list["Expression"]

# Formulas that lose fewer digits than the printed ones.
COMPUTED_FORMULAS = {"pt": "sqrt(FPR) / (sqrt(TPR) + sqrt(FPR))"}
_RATES = {
    "n": "TP + FN + FP + TN",
    "TPR": "TP / (TP + FN)",
    "FNR": "FN / (TP + FN)",
    "FPR": "FP / (FP + TN)",
    "TNR": "TN / (FP + TN)",
    "PPV": "TP / (TP + FP)",
    "NPV": "TN / (FN + TN)",
    "MCC": "(TP*TN - FP*FN) / (sqrt((TP + FP)*(TP + FN)) * sqrt((TN + FP)*(TN + FN)))",
}
_OPERATORS: dict[type[ast.AST], str] = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.Eq: "==",
}


def expression(formula: str) -> Expression:
    """Parse a formula of the catalogue.

    >>> expression("2*TP / n")
    ['/', ['*', 2, 'TP'], ['+', ['+', ['+', 'TP', 'FN'], 'FP'], 'TN']]
    """
    return _tree(ast.parse(formula, mode="eval").body)


def _tree(node: ast.expr) -> Expression:
    match node:
        case ast.Constant(value=int() | float() as number):
            return number
        case ast.Name(id=name) if name in _RATES:
            return expression(_RATES[name])
        case ast.Name(id=name):
            return name
        case ast.BinOp(left=left, op=op, right=right):
            return [_OPERATORS[type(op)], _tree(left), _tree(right)]
        case ast.Compare(left=left, ops=[op], comparators=[right]):
            return [_OPERATORS[type(op)], _tree(left), _tree(right)]
        case ast.Call(func=ast.Name(id="sqrt"), args=[argument]):
            return ["sqrt", _tree(argument)]
        case ast.IfExp(test=test, body=body, orelse=orelse):
            return ["if", _tree(test), _tree(body), _tree(orelse)]
    raise ValueError(f"a formula must not contain {ast.unparse(node)!r}")
