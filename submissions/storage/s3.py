"""Files in a bucket of an S3 server. See `submissions/storage/store.py` for what the methods promise."""

from __future__ import annotations

import hashlib
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, BinaryIO

import boto3
from boto3.exceptions import S3UploadFailedError
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError
from django.utils.http import content_disposition_header

from submissions.storage.store import (
    BLOCK,
    MIN_S3_PART,
    Arrived,
    PartsMissing,
    StorageError,
    UploadNotes,
    checked_key,
    chosen_part_size,
    disk_errors,
    part_plan,
)

NOT_THERE = ("404", "NoSuchKey", "NotFound", "NoSuchUpload")
IN_USE_SECONDS = 3600  # a cached copy used this recently may still be read


@contextmanager
def _s3_errors(key: str) -> Iterator[None]:
    """S3's faults as a sentence; a missing object or upload as FileNotFoundError."""
    try:
        yield
    except ClientError as error:
        if error.response["Error"]["Code"] in NOT_THERE:
            raise FileNotFoundError(key) from error
        raise StorageError(f"The file storage refused ({error.response['Error']['Code']}); try again later.") from error
    except S3UploadFailedError as error:  # how boto3 wraps what went wrong with a whole file
        raise StorageError("The file storage does not accept it; try again later, and tell the operator if this continues.") from error
    except BotoCoreError as error:
        raise StorageError("The file storage does not answer; nothing that you sent is lost, so try again later.") from error


class S3Store:
    """Objects in one bucket. Uploads go from the participant straight to S3 by signed links."""

    kind = "multipart"

    def __init__(
        self,
        bucket: str,
        endpoint: str,
        public_endpoint: str,
        region: str,
        access_key: str,
        secret_key: str,
        cache: Path,
        cache_bytes: int,
    ) -> None:
        self.bucket, self.cache, self.cache_bytes = bucket, cache, cache_bytes

        def client(url: str):
            # Checksums that boto3 would add to signed links are headers a browser does not send.
            config = Config(
                signature_version="s3v4",
                connect_timeout=5,
                read_timeout=60,
                retries={"max_attempts": 3},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                s3={"addressing_style": "path" if url else "auto"},
            )
            return boto3.client(
                "s3",
                endpoint_url=url or None,
                region_name=region,
                config=config,
                aws_access_key_id=access_key or None,
                aws_secret_access_key=secret_key or None,
            )

        self.client = client(endpoint)
        # Links are signed for the host that a browser outside can reach.
        self.public = client(public_endpoint) if public_endpoint != endpoint else self.client

    def _at(self, key: str) -> dict[str, str]:
        return {"Bucket": self.bucket, "Key": checked_key(key)}

    def save_bytes(self, key: str, data: bytes) -> None:
        with _s3_errors(key):
            self.client.put_object(**self._at(key), Body=data)

    def save_file(self, key: str, path: Path) -> None:
        with _s3_errors(key):
            self.client.upload_file(str(path), self.bucket, checked_key(key))

    def open(self, key: str) -> BinaryIO:
        with disk_errors():
            return self.local_path(key).open("rb")

    def read(self, key: str) -> bytes:
        with _s3_errors(key):
            return self.client.get_object(**self._at(key))["Body"].read()

    def exists(self, key: str) -> bool:
        try:
            self.size(key)
        except FileNotFoundError:
            return False
        return True

    def size(self, key: str) -> int:
        with _s3_errors(key):
            return self.client.head_object(**self._at(key))["ContentLength"]

    def delete(self, key: str) -> None:
        with _s3_errors(key):
            self.client.delete_object(**self._at(key))

    def keys(self, folder: str) -> Iterator[tuple[str, datetime]]:
        with _s3_errors(folder):
            pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket, Prefix=f"{checked_key(folder)}/")
            for page in pages:
                yield from ((found["Key"], found["LastModified"]) for found in page.get("Contents", ()))

    def used(self) -> dict[str, int]:
        """Bytes stored below each top folder."""
        total: Counter[str] = Counter()
        with _s3_errors(self.bucket):
            for page in self.client.get_paginator("list_objects_v2").paginate(Bucket=self.bucket):
                for found in page.get("Contents", ()):
                    total[found["Key"].partition("/")[0]] += found["Size"]
        return dict(total)

    def link(self, key: str, file_name: str, seconds: int) -> str | None:
        """An address that downloads the object under `file_name` for `seconds` seconds."""
        shown = content_disposition_header(True, file_name)
        params = {**self._at(key), "ResponseContentDisposition": shown, "ResponseContentType": "application/octet-stream"}
        return self.public.generate_presigned_url("get_object", Params=params, ExpiresIn=seconds)

    # --- local copies ------------------------------------------------------------------------

    def local_path(self, key: str) -> Path:
        """A copy on this machine to read from, fetched once and kept while there is room."""
        place = self.cache / hashlib.sha256(checked_key(key).encode()).hexdigest()[:32] / key.rsplit("/", 1)[-1]
        with disk_errors(), suppress(FileNotFoundError):
            os.utime(place)
            return place
        with disk_errors():
            place.parent.mkdir(parents=True, exist_ok=True)
        temporary = place.with_name(f".{secrets.token_hex(8)}")
        try:
            with _s3_errors(key):
                body = self.client.get_object(**self._at(key))["Body"]
                with disk_errors(), temporary.open("xb") as file:
                    for block in body.iter_chunks(BLOCK):
                        file.write(block)
            with disk_errors():
                os.replace(temporary, place)
        finally:
            temporary.unlink(missing_ok=True)
        # The copies that were not used for longest go, down to the allowed size.
        copies = []
        for path in self.cache.glob("*/*"):
            with suppress(FileNotFoundError):
                found = path.stat()
                copies.append((found.st_mtime, found.st_size, path))
        total = sum(size for _, size, _ in copies)
        for used, size, path in sorted(copies, key=lambda copy: copy[0]):
            if total <= self.cache_bytes or time.time() - used < IN_USE_SECONDS:
                break
            path.unlink(missing_ok=True)
            total -= size
        return place

    # --- uploads in parts ------------------------------------------------------------------

    def start_upload(self, folder: str, file_name: str, size: int) -> UploadNotes:
        """Open a multipart upload under a key nobody can guess."""
        key = checked_key(f"{folder}/{secrets.token_hex(8)}/{file_name}")
        with _s3_errors(key):
            answer = self.client.create_multipart_upload(**self._at(key), ContentType="application/octet-stream")
        return {
            "kind": self.kind,
            "key": key,
            "upload_id": answer["UploadId"],
            "size": size,
            "part_size": chosen_part_size(size, MIN_S3_PART),
        }

    def part_url(self, notes: UploadNotes, number: int, seconds: int) -> str | None:
        """A signed address that takes exactly this part: its length is in the signature, so the
        parts together cannot be larger than was agreed."""
        length = part_plan(notes["size"], notes["part_size"])[number - 1]
        params = {**self._at(notes["key"]), "UploadId": notes["upload_id"], "PartNumber": number, "ContentLength": length}
        return self.public.generate_presigned_url("upload_part", Params=params, ExpiresIn=seconds)

    def save_part(self, notes: UploadNotes, number: int, stream: BinaryIO) -> None:
        raise StorageError("Send the parts to the addresses given with the upload, not here.")

    def _parts(self, notes: UploadNotes) -> dict[int, dict[str, Any]]:
        """Return what S3 holds of an open upload, by number."""
        with _s3_errors(notes["key"]):
            pages = self.client.get_paginator("list_parts").paginate(**self._at(notes["key"]), UploadId=notes["upload_id"])
            return {part["PartNumber"]: part for page in pages for part in page.get("Parts", ())}

    def parts_done(self, notes: UploadNotes) -> list[int]:
        plan = part_plan(notes["size"], notes["part_size"])
        try:
            found = self._parts(notes)
        except FileNotFoundError:  # already joined
            return list(range(1, len(plan) + 1)) if self.exists(notes["key"]) else []
        return [number for number, size in enumerate(plan, start=1) if number in found and found[number]["Size"] == size]

    def finish_upload(self, notes: UploadNotes) -> Arrived:
        """Join the parts, then ask S3 how large the object is and read it once for its hash:
        neither is taken from the uploader."""
        key, plan = notes["key"], part_plan(notes["size"], notes["part_size"])
        # Joined by an attempt whose answer was lost: its parts are gone and the object is there.
        with suppress(FileNotFoundError):
            parts = self._parts(notes)
            missing = [n for n, size in enumerate(plan, start=1) if n not in parts or parts[n]["Size"] != size]
            if missing:
                raise PartsMissing(missing)
            joined = [{"PartNumber": n, "ETag": parts[n]["ETag"]} for n in range(1, len(plan) + 1)]
            with _s3_errors(key):
                self.client.complete_multipart_upload(**self._at(key), UploadId=notes["upload_id"], MultipartUpload={"Parts": joined})
        try:
            size = self.size(key)
        except FileNotFoundError:
            raise PartsMissing(list(range(1, len(plan) + 1))) from None
        digest = hashlib.sha256()
        if size <= notes["size"]:  # else it is refused by its size, unread
            with _s3_errors(key):
                for block in self.client.get_object(**self._at(key))["Body"].iter_chunks(BLOCK):
                    digest.update(block)
        return Arrived(key, size, digest.hexdigest())

    def drop_upload(self, notes: UploadNotes) -> None:
        with suppress(FileNotFoundError), _s3_errors(notes["key"]):
            self.client.abort_multipart_upload(**self._at(notes["key"]), UploadId=notes["upload_id"])

    def clean(self, in_use: set[str]) -> int:
        """Cleaning of rows is enough: a bucket's lifecycle rule drops abandoned multipart uploads."""
        return 0
