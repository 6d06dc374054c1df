"""What a failed request to S3 means: whether it may pass, whether it arrived, and our error for it.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from typing import Any

from botocore import exceptions as botocore

from colonnade.manifests.store.bucket.failure import Failure, busy, refused
from colonnade.manifests.store.transient import may_pass

_PASSING_CODES = {
    *("SlowDown", "SlowDownRead", "SlowDownWrite", "Throttling", "RequestTimeout"),
    *("InternalError", "ServiceUnavailable", "XMinioServerNotInitialized"),
    *("ConditionalRequestConflict", "OperationAborted"),
}
_NEVER_SENT = (
    botocore.ConnectTimeoutError,
    botocore.EndpointConnectionError,
    botocore.ProxyConnectionError,
    botocore.NoCredentialsError,
    botocore.PartialCredentialsError,
    botocore.CredentialRetrievalError,
    botocore.ParamValidationError,
)
_WITHOUT_CREDENTIALS = (
    botocore.NoCredentialsError,
    botocore.PartialCredentialsError,
    botocore.CredentialRetrievalError,
    botocore.SSOError,
)
_OLD_CREDENTIALS = {
    *("InvalidAccessKeyId", "SignatureDoesNotMatch"),
    *("ExpiredToken", "TokenRefreshRequired", "InvalidToken"),
}
_PERMISSIONS = {
    "GetObject": "s3:GetObject",
    "HeadObject": "s3:GetObject",
    "PutObject": "s3:PutObject",
    "CreateMultipartUpload": "s3:PutObject",
    "UploadPart": "s3:PutObject",
    "CompleteMultipartUpload": "s3:PutObject",
    "AbortMultipartUpload": "s3:AbortMultipartUpload",
    "ListMultipartUploads": "s3:ListBucketMultipartUploads",
    "ListObjectsV2": "s3:ListBucket",
    "HeadBucket": "s3:ListBucket",
    "DeleteObject": "s3:DeleteObject",
    "DeleteObjects": "s3:DeleteObject",
}
_SENTENCES = {
    "NoSuchBucket": "the bucket does not exist; create it first, or correct its name",
    "InvalidBucketName": "that is not a name of a bucket",
    "InvalidAccessKeyId": "the server does not know the access key; check the credentials",
    "SignatureDoesNotMatch": "the secret key is wrong; check the credentials",
    "ExpiredToken": "the credentials have expired; renew them",
    "TokenRefreshRequired": "the credentials have expired; renew them",
    "InvalidToken": "the session token is not valid; renew the credentials",
    "RequestTimeTooSkewed": "the clock of this machine is wrong by more than 15 minutes; set it",
    "PermanentRedirect": "the bucket is in another region; give client_kwargs region_name",
    "AuthorizationHeaderMalformed": "the region is wrong; give client_kwargs region_name",
    "IllegalLocationConstraintException": "the region is wrong; give client_kwargs region_name",
    "QuotaExceeded": "the quota of the bucket is used up",
    "XMinioStorageFull": "the disk of the server is full",
    "XMinioObjectExistsAsDirectory": "a folder of that name is there; the place is used otherwise",
    "XMinioParentIsObject": "a folder above it is an object; the place is used otherwise",
}
_ABSENT = {"NoSuchKey", "404", "NotFound", "NoSuchUpload"}
_SILENT = (
    botocore.ConnectTimeoutError,
    botocore.EndpointConnectionError,
    botocore.ReadTimeoutError,
)
_NO_ANSWER = {
    "NoCredentialsError": "no credentials were found; give the storage options key and secret, a"
    " profile, or anon",
    "PartialCredentialsError": "the credentials are incomplete",
    "CredentialRetrievalError": "no credentials could be fetched",
    "EndpointConnectionError": "the server cannot be reached; check endpoint_url and the network",
    "ConnectTimeoutError": "the server cannot be reached; check endpoint_url and the network",
    "ReadTimeoutError": "the server did not answer in time",
    "ConnectionClosedError": "the server closed the connection without an answer",
    "IncompleteReadError": "the answer broke off",
    "ProtocolError": "the answer broke off",
    "SSLError": "the certificate of the server is not trusted, or it speaks no TLS",
}


def classify(operation: str, error: Exception) -> Failure | None:
    """Return what an error of botocore, or of its connections, means for a request.

    Returns None for an error that is not of a request.
    """
    # urllib3 and the sockets below it have errors of their own while a body is read.
    known = isinstance(error, botocore.BotoCoreError | botocore.ClientError)
    if not known and not may_pass(error):
        return None
    if not isinstance(error, botocore.ClientError):
        return Failure(
            _unanswered(error),
            error,
            arrived=not isinstance(error, _NEVER_SENT),
            passing=may_pass(error),
            silent=isinstance(error, _SILENT),
            bare=isinstance(error, _WITHOUT_CREDENTIALS),
        )
    answer: dict[str, Any] = error.response
    code = str(answer.get("Error", {}).get("Code", ""))
    status = int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))
    passing = code in _PASSING_CODES or may_pass(error)
    return Failure(
        _reason(operation, status, code, passing),
        error,
        status=status,
        absent=status == 404 and code in _ABSENT,
        # A status of 400 and more, of the kinds that never pass, says that nothing was done.
        arrived=passing or status < 400,
        passing=passing,
        bare=code in _OLD_CREDENTIALS,
    )


def _unanswered(error: Exception) -> str:
    kinds = (kind.__name__ for kind in type(error).__mro__)
    known = next((_NO_ANSWER[kind] for kind in kinds if kind in _NO_ANSWER), None)
    return known or f"the request failed ({type(error).__name__})"


def _reason(operation: str, status: int, code: str, passing: bool) -> str:
    if code in _SENTENCES:
        return _SENTENCES[code]
    if status == 403:
        needed = _PERMISSIONS.get(operation, operation)
        also = ", or s3:ListBucket where the object is absent" if needed == "s3:GetObject" else ""
        return f"permission denied; the credentials need {needed}{also}"
    return busy(status) if passing else refused(status, code)
