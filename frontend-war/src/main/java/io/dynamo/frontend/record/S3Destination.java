package io.dynamo.frontend.record;

import io.dynamo.config.watch.RecordSinkSettings.S3Settings;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpRequest;
import java.time.Clock;
import java.time.Duration;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import java.util.zip.GZIPOutputStream;

/** Puts each batch of records as an object into a bucket of S3: lines of JSON, compressed. */
final class S3Destination implements Destination {
  private static final Duration PUT = Duration.ofSeconds(30);
  private static final String CHINA = ".amazonaws.com.cn"; // a partition of its own
  private static final DateTimeFormatter DAY =
      DateTimeFormatter.ofPattern("yyyy/MM/dd", Locale.ROOT).withZone(ZoneOffset.UTC);
  private static final DateTimeFormatter TIME =
      DateTimeFormatter.ofPattern("HHmmss", Locale.ROOT).withZone(ZoneOffset.UTC);

  private final UploadClient client = new UploadClient();
  private final S3Settings settings;
  private final S3Signature signature;
  private final String host; // of this server, in the names of objects
  private final Clock clock;
  private final String run = UUID.randomUUID().toString().replace("-", "");
  private long objects;
  private List<byte[]> named = List.of(); // the batch that has the name
  private String name = "";

  S3Destination(S3Settings settings, String host, Clock clock) {
    this.settings = settings;
    this.signature = new S3Signature(settings.accessKey(), settings.secretKey(), settings.region());
    this.host = host.replaceAll("[^A-Za-z0-9.-]", "-");
    this.clock = clock;
  }

  @Override
  public Batch batch() {
    return new Batch(settings.rollBytes(), settings.flushInterval());
  }

  @Override
  public byte[] entry(TraceRecord record, byte[] json) {
    return json;
  }

  @Override
  public int send(List<byte[]> entries) throws IOException, InterruptedException {
    var object = url(name(entries));
    var body = packed(entries);
    var headers = new HashMap<String, String>();
    headers.put("host", host(object));
    headers.put("content-type", "application/gzip");
    var token = settings.sessionToken();
    if (token != null) {
      headers.put("x-amz-security-token", token);
    }
    var signed =
        signature.sign(
            new S3Signature.Request("PUT", object.getRawPath(), headers, body), clock.instant());
    var request =
        HttpRequest.newBuilder(object)
            .timeout(PUT)
            .PUT(HttpRequest.BodyPublishers.ofByteArray(body));
    signed.forEach(
        (header, value) -> {
          if (!header.equals("host")) { // the client's own
            request.header(header, value);
          }
        });
    int status = client.send(request.build());
    if (status / 100 == 2) {
      return 0;
    }
    throw new IOException(
        "the bucket %s at %s answers %d%s"
            .formatted(
                settings.bucket(),
                object.getHost(),
                status,
                switch (status) {
                  case 301, 307, 400 -> "; check the region " + settings.region();
                  case 403 -> "; check the credentials, and that they may put objects";
                  case 404 -> "; check that it exists";
                  default -> "";
                }));
  }

  /** The name of a batch: a batch that is sent again keeps it, so that it is there once. */
  @SuppressWarnings("ReferenceEquality") // another batch may have equal entries
  private String name(List<byte[]> entries) {
    if (entries != named) {
      named = entries;
      var now = clock.instant();
      var prefix = settings.prefix();
      name =
          "%s%s/%s-%s-%s-%06d.jsonl.gz"
              .formatted(
                  prefix.isEmpty() ? "" : prefix + "/",
                  DAY.format(now),
                  host,
                  TIME.format(now),
                  run,
                  objects++);
    }
    return name;
  }

  private URI url(String key) {
    var endpoint = settings.endpoint();
    var encoded = S3Signature.encoded("/" + key);
    if (endpoint != null) {
      var base = endpoint.toString().replaceFirst("/+$", "");
      return URI.create(base + "/" + settings.bucket() + encoded);
    }
    var regional =
        "s3."
            + settings.region()
            + (settings.region().startsWith("cn-") ? CHINA : ".amazonaws.com");
    return settings.bucket().contains(".") // which no certificate covers
        ? URI.create("https://" + regional + "/" + settings.bucket() + encoded)
        : URI.create("https://" + settings.bucket() + "." + regional + encoded);
  }

  /** The header that the client sends, which leaves the standard port out. */
  static String host(URI object) {
    int standard = "https".equalsIgnoreCase(object.getScheme()) ? 443 : 80;
    return object.getPort() == standard ? object.getHost() : object.getRawAuthority();
  }

  private static byte[] packed(List<byte[]> lines) throws IOException {
    var packed = new ByteArrayOutputStream();
    try (var out = new GZIPOutputStream(packed)) {
      for (var line : lines) {
        out.write(line);
        out.write('\n');
      }
    }
    return packed.toByteArray();
  }

  @Override
  public void close() {
    client.close();
  }
}
