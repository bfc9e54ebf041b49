"""Tables as people have them: files, columns of every kind, and the numbers made of them."""

from ellzero.tables._columns import Column, DateColumn, NumberColumn, TextColumn, ValueColumn
from ellzero.tables._date_parts import DatePart
from ellzero.tables._encode import Encoding, encode_columns
from ellzero.tables._errors import DataError
from ellzero.tables._examples import EXAMPLES, example_table
from ellzero.tables._features import Feature, Features
from ellzero.tables._files import write_aside
from ellzero.tables._kinds import Remark, judge_columns
from ellzero.tables._levels import Pool
from ellzero.tables._plan import Plan, make_plan
from ellzero.tables._read import ReadOptions, Table, read_table

__all__ = [
    "EXAMPLES",
    "Column",
    "DataError",
    "DateColumn",
    "DatePart",
    "Encoding",
    "Feature",
    "Features",
    "NumberColumn",
    "Plan",
    "Pool",
    "ReadOptions",
    "Remark",
    "Table",
    "TextColumn",
    "ValueColumn",
    "encode_columns",
    "example_table",
    "judge_columns",
    "make_plan",
    "read_table",
    "write_aside",
]
