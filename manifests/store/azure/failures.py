"""What a failed request to Azure means: whether it may pass, whether it arrived, and why.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from azure.core import exceptions as azure

from colonnade.manifests.store.bucket.failure import TAKEN, Failure, busy, refused
from colonnade.manifests.store.transient import may_pass

_REFUSED = 409
_IS_TAKEN = {"BlobAlreadyExists", "ConditionNotMet", "TargetConditionNotMet"}
_PASSING = {"ServerBusy", "InternalError", "OperationTimedOut", "ContainerBeingDeleted"}
_ROLES = {
    "read": "the role Storage Blob Data Reader, or a SAS with the permission r",
    "list": "the role Storage Blob Data Reader, or a SAS with the permission l",
    "write": "the role Storage Blob Data Contributor, or a SAS with the permissions c and w",
    "remove": "the role Storage Blob Data Contributor, or a SAS with the permission d",
}
_EXPIRED = "the credentials are wrong or have expired, or the clock of this machine is wrong"
_SENTENCES = {
    "ContainerNotFound": "the container does not exist; create it first, or correct its name",
    "ContainerDisabled": "the container is disabled",
    "AccountIsDisabled": "the account is disabled",
    "AuthenticationFailed": _EXPIRED,
    "InvalidAuthenticationInfo": _EXPIRED,
    "ExpiredAuthenticationToken": _EXPIRED,
    "NoAuthenticationInformation": "no credentials were sent, and the container is not public; give"
    " account_key, sas_token or a credential",
    "PublicAccessNotPermitted": "the account allows no access without credentials",
    "AuthorizationFailure": "the account refuses these credentials or this network; check the key,"
    " the end of the SAS, and the network rules of the account",
    "KeyBasedAuthenticationNotPermitted": "the account refuses access by keys; leave account_key"
    " out, and log in",
    "BlobImmutableDueToPolicy": "an immutability policy or a legal hold keeps the object",
    "BlobArchived": "the object is in the archive tier; bring it back first",
    "LeaseIdMissing": "another client holds a lease on the object",
    "InvalidResourceName": "that is not a name of a container or of an object",
    "PathConflict": "a folder of that name is there; the place is used otherwise",
}
_UNREACHABLE = "the server cannot be reached; check account_name and the network"


def classify(operation: str, error: Exception) -> Failure | None:
    """Return what an error means for a request; None for one that is not of a request.

    `operation` is read, list, write or remove.
    """
    if isinstance(error, azure.HttpResponseError) and error.status_code is not None:
        return _refusal(operation, error)
    if isinstance(error, azure.ClientAuthenticationError):
        reason = (
            "the credentials are missing, malformed, or could not be fetched; check account_key,"
            " sas_token or credential, or run 'az login'"
        )
        return Failure(reason, error, bare=True)
    if isinstance(error, azure.ServiceRequestError):
        reason = "the certificate is not trusted" if "SSL" in _cause(error) else _UNREACHABLE
        return Failure(reason, error, passing=True, silent=True)
    if isinstance(error, azure.ServiceResponseTimeoutError) or "Timeout" in _cause(error):
        reason = "the server did not answer in time"
        return Failure(reason, error, arrived=True, passing=True, silent=True)
    if isinstance(error, azure.AzureError) or may_pass(error):
        reason = "the server closed the connection without a whole answer"
        return Failure(reason, error, arrived=True, passing=True)
    return None


def refusal(operation: str, status: int, code: str, error: Exception) -> Failure:
    """Return what an answer of Azure with this HTTP status and error code means for a request."""
    taken = code in _IS_TAKEN
    passing = not taken and (code in _PASSING or status in (408, 429, 500, 502, 503, 504))
    return Failure(
        _reason(operation, status, code, passing),
        error,
        # Azure answers 409 or 412 for a taken name. Other conditions, such as those of leases,
        # have the same status, and take no name.
        status=TAKEN if taken else _REFUSED if status == TAKEN else status,
        absent=status == 404 and code not in _SENTENCES,
        arrived=passing or status < 400,
        passing=passing,
        bare=status == 401,
    )


def _refusal(operation: str, error: azure.HttpResponseError) -> Failure:
    code = getattr(error, "error_code", None) or ""
    return refusal(operation, error.status_code, str(getattr(code, "value", code)), error)


def _reason(operation: str, status: int, code: str, passing: bool) -> str:
    if code in _SENTENCES and not passing:
        return _SENTENCES[code]
    if status == 401:
        return _EXPIRED
    if status == 403:
        return f"permission denied; the credentials need {_ROLES[operation]}"
    return busy(status) if passing else refused(status, code)


def _cause(error: Exception) -> str:
    """Return the names of the classes of an error and of the error below it."""
    inner = getattr(error, "inner_exception", None)
    return " ".join(kind.__name__ for each in (error, inner) for kind in type(each).__mro__)
