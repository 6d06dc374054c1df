"""What a failed request to S3 means: whether it may pass, whether it arrived, and our error for it.

Spec: docs/spec/store.md#buckets
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from botocore import exceptions as botocore

from colonnade.manifests.errors import NotFoundError, StoreError
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
_NO_ANSWER = {
    "NoCredentialsError": "no credentials were found; give the storage options key and secret, a"
    " profile, or anon",
    "PartialCredentialsError": "the credentials are incomplete",
    "CredentialRetrievalError": "no credentials could be fetched",
    "EndpointConnectionError": "the server cannot be reached; check endpoint_url and the network",
    "ConnectTimeoutError": "the server cannot be reached; check endpoint_url and the network",
    "ReadTimeoutError": "the server did not answer in time",
    "ConnectionClosedError": "the server closed the connection without an answer",
    "SSLError": "the certificate of the server is not trusted, or it speaks no TLS",
}


@dataclass(eq=False)
class Failure(Exception):
    """One failed request.

    `status` is that of the answer, None without one. `arrived` says whether the request may have
    had an effect. `passing` says whether the same request may succeed later.
    """

    operation: str
    status: int | None
    code: str
    arrived: bool
    passing: bool
    error: Exception

    def translate(self, location: str, verb: str) -> NotFoundError | StoreError:
        """Return our error for an object. It holds no text of the server or of the client."""
        if self.status == 404 and self.code in ("NoSuchKey", "404", "NotFound", "NoSuchUpload"):
            return NotFoundError(f"{location} does not exist.")
        return StoreError(f"{location} could not be {verb}: {self._reason()}.", self.passing)

    def _reason(self) -> str:
        if self.code in _SENTENCES:
            return _SENTENCES[self.code]
        if self.status == 403:
            needed = _PERMISSIONS.get(self.operation, self.operation)
            also = (
                ", or s3:ListBucket where the object is absent" if needed == "s3:GetObject" else ""
            )
            return f"permission denied; the credentials need {needed}{also}"
        if self.status is None:
            kinds = (kind.__name__ for kind in type(self.error).__mro__)
            known = next((_NO_ANSWER[kind] for kind in kinds if kind in _NO_ANSWER), None)
            return known or f"the request failed ({type(self.error).__name__})"
        if self.passing:
            return f"the server is busy or has failed (HTTP {self.status}); run this again"
        return f"the server refused it (HTTP {self.status}{_named(self.code)})"


def classify(operation: str, error: Exception) -> Failure:
    """Return what an error of botocore, or of its connections, means for a request."""
    if not isinstance(error, botocore.ClientError):
        arrived = not isinstance(error, _NEVER_SENT)
        return Failure(operation, None, "", arrived, may_pass(error), error)
    answer: dict[str, Any] = error.response
    code = str(answer.get("Error", {}).get("Code", ""))
    meta = answer.get("ResponseMetadata", {})
    status = int(meta.get("HTTPStatusCode", 0))
    passing = code in _PASSING_CODES or may_pass(error)
    # A status of 400 and more, of the kinds that never pass, says that nothing was done.
    arrived = passing or status < 400
    return Failure(operation, status, code, arrived, passing, error)


def _named(code: str) -> str:
    return f", {code}" if code.isalnum() and len(code) <= 60 else ""
