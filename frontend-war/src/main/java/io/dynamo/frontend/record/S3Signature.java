package io.dynamo.frontend.record;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HexFormat;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs requests to S3 by AWS Signature Version 4.
 *
 * @param secretKey of {@code accessKey}
 */
record S3Signature(String accessKey, String secretKey, String region) {
  private static final String ALGORITHM = "AWS4-HMAC-SHA256";
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final int DATE_CHARS = 8;
  private static final String UNRESERVED = "-._~";

  /**
   * A request.
   *
   * @param path encoded by {@link #encoded}
   * @param headers that are signed beside the time and the body's hash, {@code host} among them
   */
  record Request(String method, String path, Map<String, String> headers, byte[] body) {}

  /** Returns the headers of a signed request: those that were given, and those of the signature. */
  Map<String, String> sign(Request request, Instant now) {
    var time = TIME.format(now);
    var hash = hex(sha256(request.body()));
    var headers = new TreeMap<String, String>();
    request.headers().forEach((name, value) -> headers.put(name.toLowerCase(Locale.ROOT), value));
    headers.put("x-amz-content-sha256", hash);
    headers.put("x-amz-date", time);
    var names = String.join(";", headers.keySet());
    var canonical =
        "%s\n%s\n\n%s\n%s\n%s"
            .formatted(
                request.method(),
                request.path(),
                headers.entrySet().stream()
                    .map(header -> header.getKey() + ":" + header.getValue().strip() + "\n")
                    .collect(Collectors.joining()),
                names,
                hash);
    var date = time.substring(0, DATE_CHARS);
    var scope = date + "/" + region + "/s3/aws4_request";
    var text =
        ALGORITHM + "\n" + time + "\n" + scope + "\n" + hex(sha256(canonical.getBytes(UTF_8)));
    var key = hmac(("AWS4" + secretKey).getBytes(UTF_8), date);
    for (var part : new String[] {region, "s3", "aws4_request"}) {
      key = hmac(key, part);
    }
    headers.put(
        "authorization",
        "%s Credential=%s/%s,SignedHeaders=%s,Signature=%s"
            .formatted(ALGORITHM, accessKey, scope, names, hex(hmac(key, text))));
    return headers;
  }

  /** A path whose segments may have any characters, encoded as S3 counts it. */
  static String encoded(String path) {
    var out = new StringBuilder();
    for (byte each : path.getBytes(UTF_8)) {
      char c = (char) (each & 0xff);
      boolean plain =
          c == '/'
              || (c >= '0' && c <= '9')
              || (c >= 'A' && c <= 'Z')
              || (c >= 'a' && c <= 'z')
              || UNRESERVED.indexOf(c) >= 0;
      out.append(plain ? String.valueOf(c) : "%%%02X".formatted((int) c));
    }
    return out.toString();
  }

  private static String hex(byte[] bytes) {
    return HexFormat.of().formatHex(bytes);
  }

  private static byte[] sha256(byte[] bytes) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(bytes);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }

  private static byte[] hmac(byte[] key, String text) {
    try {
      var mac = Mac.getInstance("HmacSHA256");
      mac.init(new SecretKeySpec(key, "HmacSHA256"));
      return mac.doFinal(text.getBytes(UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has HmacSHA256", e);
    }
  }

  /** Returns a text without the secret. */
  @Override
  public String toString() {
    return "S3Signature[accessKey=%s, region=%s]".formatted(accessKey, region);
  }
}
