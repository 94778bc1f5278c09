package io.dynamo.it;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/** A Prometheus server on a port of loopback that scrapes the given status servers every second. */
final class PrometheusProcess implements AutoCloseable {
  private static final Duration START = Duration.ofSeconds(60);
  private static final HttpClient HTTP = HttpClient.newHttpClient();
  private static final ObjectMapper JSON = new ObjectMapper();

  private final Process process;
  private final int port;

  private PrometheusProcess(Process process, int port) {
    this.process = process;
    this.port = port;
  }

  /**
   * Starts the server; returns when it answers.
   *
   * @param folder for its files
   * @param rules text of the file of rules
   * @param statusPorts of the servers to scrape
   */
  static PrometheusProcess start(Path folder, String rules, List<Integer> statusPorts)
      throws IOException {
    Files.writeString(folder.resolve("rules.yaml"), rules);
    var targets =
        statusPorts.stream()
            .map(port -> "\"127.0.0.1:%d\"".formatted(port))
            .collect(Collectors.joining(", "));
    var config =
        Files.writeString(
            folder.resolve("prometheus.yaml"),
            """
            global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}
            rule_files: [rules.yaml]
            scrape_configs:
              - job_name: dynamo
                static_configs:
                  - targets: [%s]
            """
                .formatted(targets));
    int port = ServerProcess.freePort();
    var log = folder.resolve("prometheus.log");
    var process =
        new ProcessBuilder(
                "prometheus",
                "--config.file=" + config,
                "--storage.tsdb.path=" + folder.resolve("data"),
                "--web.listen-address=127.0.0.1:" + port,
                "--log.level=warn")
            .redirectErrorStream(true)
            .redirectOutput(log.toFile())
            .start();
    var prometheus = new PrometheusProcess(process, port);
    try {
      Polling.until(
          "Prometheus is ready",
          START,
          () -> {
            assertThat(process.isAlive()).as(Files.readString(log)).isTrue();
            return prometheus.get("/-/ready").statusCode() == 200;
          });
    } catch (AssertionError never) {
      prometheus.close();
      throw never;
    }
    return prometheus;
  }

  private HttpResponse<String> get(String path) throws IOException, InterruptedException {
    var request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
            .timeout(Duration.ofSeconds(10))
            .build();
    return HTTP.send(request, HttpResponse.BodyHandlers.ofString());
  }

  private JsonNode data(String path) throws IOException, InterruptedException {
    var answer = get(path);
    assertThat(answer.statusCode()).as(path + " is answered " + answer.body()).isEqualTo(200);
    return JSON.readTree(answer.body()).path("data");
  }

  /** The numbers that {@code expression} has now; those that are none are left out. */
  List<Double> query(String expression) throws IOException, InterruptedException {
    var encoded = URLEncoder.encode(expression, StandardCharsets.UTF_8);
    return data("/api/v1/query?query=" + encoded)
        .path("result")
        .valueStream()
        .map(series -> Double.parseDouble(series.path("value").path(1).asText()))
        .filter(Double::isFinite)
        .toList();
  }

  /** The values of a label of {@code metric}. */
  List<String> labelValues(String label, String metric) throws IOException, InterruptedException {
    return data("/api/v1/label/" + label + "/values?match[]=".replace("[]", "%5B%5D") + metric)
        .valueStream()
        .map(JsonNode::asText)
        .toList();
  }

  /** The names of the alerts that fire. */
  Set<String> firing() throws IOException, InterruptedException {
    var names = new TreeSet<String>();
    for (var alert : data("/api/v1/alerts").path("alerts")) {
      if (alert.path("state").asText().equals("firing")) {
        names.add(alert.path("labels").path("alertname").asText());
      }
    }
    return names;
  }

  @Override
  public void close() {
    process.destroyForcibly();
    process.onExit().orTimeout(10, TimeUnit.SECONDS).join();
  }
}
