"""From columns to the numbers that models take: a scikit-learn pipeline, to be fitted on the training part only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pairsim.checks import check_choice, check_instance
from pairsim.errors import parameter_error

if TYPE_CHECKING:
    import pandas as pd

TEXT = "text"  # the one column of a set of texts
DENSE_NUMBERS = 1 << 24  # up to so many, one-hot columns are kept as plain arrays: 128 MB
SCALINGS = ("standard", "minmax", "symmetric", "none")


def is_text(X: pd.DataFrame) -> bool:
    """Say whether the only feature is text to be read word by word."""
    return list(X.columns) == [TEXT] and not is_number(X[TEXT])


def as_points(X: pd.DataFrame) -> Any:
    """Return the features in the form that the pipeline takes: a table, or for texts a list of them."""
    return X[TEXT].fillna("").tolist() if is_text(X) else X


def preprocessor(X: pd.DataFrame, scaling: str = "standard") -> Any:
    """Return the unfitted pipeline for features like those of X.

    Parameters
    ----------
    X : pandas.DataFrame
        Features; a column is numbers or else a choice (one-hot). A single column `text` goes through TF-IDF.
    scaling : {"standard", "minmax", "symmetric", "none"}
        Scaling of the columns of numbers: mean 0 and variance 1, the range [0, 1], the range [-1, 1], or as they are.

    Returns
    -------
    sklearn.pipeline.Pipeline
        Its input is what `as_points` makes of features. Missing numbers become the median, missing choices the most
        frequent one; choices that the training part does not have are all zeros.

    Examples
    --------
    >>> import pandas as pd
    >>> from pairsim.datasets import preprocessor
    >>> X = pd.DataFrame({"size": [1.0, None, 5.0], "colour": ["red", "blue", "red"]})
    >>> preprocessor(X, scaling="minmax").fit_transform(X).tolist()
    [[0.0, 0.0, 1.0], [0.5, 1.0, 0.0], [1.0, 0.0, 1.0]]
    """
    require_sklearn("preprocessor")
    from sklearn.compose import ColumnTransformer
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import MinMaxScaler, OneHotEncoder, StandardScaler

    check_choice("preprocessor", "scaling", scaling, SCALINGS)
    check_frame("preprocessor", "X", X)
    if is_text(X):
        return make_pipeline(TfidfVectorizer(sublinear_tf=True))
    numbers = [name for name in X.columns if is_number(X[name])]
    choices = [name for name in X.columns if name not in numbers]
    scaler = {
        "standard": StandardScaler(),
        "minmax": MinMaxScaler(),
        "symmetric": MinMaxScaler(feature_range=(-1, 1)),
        "none": "passthrough",
    }[scaling]
    # a column without any value says nothing, but takes its place: a fold may lack what the whole set has
    fill = SimpleImputer(strategy="median", keep_empty_features=True)
    dense = len(X) * sum(int(X[name].nunique()) for name in choices) <= DENSE_NUMBERS
    one_hot = OneHotEncoder(handle_unknown="ignore", sparse_output=not dense)
    most_frequent = SimpleImputer(strategy="most_frequent", keep_empty_features=True, fill_value="")
    parts = [
        ("numbers", make_pipeline(fill, scaler), numbers),
        ("choices", make_pipeline(most_frequent, one_hot), choices),
    ]
    return make_pipeline(ColumnTransformer([part for part in parts if part[2]]))


def require_sklearn(owner: str) -> None:
    """Raise an error where scikit-learn is not installed."""
    try:
        import sklearn  # noqa: F401
    except ImportError:
        must_be = "used with scikit-learn installed (pip install 'pairsim[sklearn]')"
        raise parameter_error(owner, "data", must_be, "none") from None


def check_frame(owner: str, name: str, X: Any) -> None:
    """Reject features that are no table."""
    import pandas as pd

    check_instance(owner, name, X, pd.DataFrame, "a DataFrame of features")


def is_number(column: Any) -> bool:
    """Say whether a column holds numbers (or yes and no) rather than text."""
    return bool(column.dtype.kind in "biuf")
