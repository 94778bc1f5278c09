package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.Test;

class S3SignatureTest {
  /** The example of "PUT Object" in Amazon's reference of S3's authentication by header. */
  @Test
  void signsAsAmazonsExampleIsSigned() {
    var signature =
        new S3Signature(
            "AKIAIOSFODNN7EXAMPLE", "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "us-east-1");

    var headers =
        signature.sign(
            new S3Signature.Request(
                "PUT",
                S3Signature.encoded("/test$file.text"),
                Map.of(
                    "Host", "examplebucket.s3.amazonaws.com",
                    "Date", "Fri, 24 May 2013 00:00:00 GMT",
                    "x-amz-storage-class", "REDUCED_REDUNDANCY"),
                "Welcome to Amazon S3.".getBytes(UTF_8)),
            Instant.parse("2013-05-24T00:00:00Z"));

    assertThat(headers)
        .containsEntry("x-amz-date", "20130524T000000Z")
        .containsEntry(
            "authorization",
            "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request,"
                + "SignedHeaders=date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class,"
                + "Signature=98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd");
    assertThat(signature.toString()).doesNotContain("wJalr");
  }

  /** The signature is that of Amazon's own client for Python, botocore 1.44.8. */
  @Test
  void signsTemporaryCredentialsAsBotocoreDoes() {
    var headers =
        new S3Signature("AKID", "SECRET", "eu-west-1")
            .sign(
                new S3Signature.Request(
                    "PUT",
                    S3Signature.encoded("/traces/a b/é~.gz"),
                    Map.of(
                        "host", "127.0.0.1:9000",
                        "content-type", "application/gzip",
                        "x-amz-security-token", "TOKEN"),
                    "xyz".getBytes(UTF_8)),
                Instant.parse("2026-01-02T03:04:05Z"));

    assertThat(headers.get("authorization"))
        .endsWith("Signature=2341d95e631755f88ccbd0aa42a109fad65d446098e5f6b8460ee72846eb8416");
  }
}
