package io.dynamo.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.OfflineSettings;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DynamoCommandTest {
  private AnsweringServer server;

  @BeforeEach
  void startServer() throws IOException {
    server = new AnsweringServer();
  }

  @AfterEach
  void stopServer() {
    server.close();
  }

  private static CommandOutcome run(String... arguments) {
    return CommandOutcome.of(arguments);
  }

  private String url() {
    return server.url();
  }

  @Test
  void theVersionIsOneLine() {
    var outcome = run("--version");

    assertThat(outcome.out()).startsWith("dynamo ").hasLineCount(1);
    assertThat(outcome.status()).isZero();
  }

  @Test
  void anUnknownOptionIsNamed() {
    var outcome = run("--zzz");

    assertThat(outcome.error()).contains("--zzz");
    assertThat(outcome.status()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void modelsAreListedByName() {
    server.put("/v1/models", "{\"object\":\"list\",\"data\":[{\"id\":\"one\"},{\"id\":\"two\"}]}");

    var outcome = run("models", "--url", url());

    assertThat(outcome.out()).isEqualTo("one%ntwo%n".formatted());
    assertThat(outcome.status()).isZero();
  }

  @Test
  void aServerWithoutModelsIsNoSuccess() {
    server.put("/v1/models", "{\"data\":[]}");

    assertThat(run("models", "--url", url()).status()).isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void workersAreReadFromTheMetricsOfTheFrontend() {
    server.put(
        "/metrics",
        """
        # TYPE dynamo_frontend_worker_active_decode_blocks gauge
        dynamo_frontend_worker_active_decode_blocks{dp_rank="1",mp_scope="vendor",worker_id="18446744073709551615",worker_type="decode"} 7.0
        dynamo_frontend_worker_active_decode_blocks{dp_rank="0",mp_scope="vendor",worker_id="26",worker_type="decode"} 3.0
        dynamo_frontend_worker_last_time_to_first_token_seconds{dp_rank="0",worker_id="26",worker_type="decode"} 0.0125
        dynamo_frontend_inflight_requests{model="m"} 1
        """);

    var outcome = run("workers", "--url", url());

    assertThat(outcome.out().lines().map(line -> line.replaceAll(" +", " ")))
        .containsExactly(
            "WORKER IN LOGS RANK TYPE BLOCKS PREFILL TOKENS LAST TTFT",
            "26 1a 0 decode 3 - 12.5 ms",
            "18446744073709551615 ffffffffffffffff 1 decode 7 - -");
  }

  @Test
  void aDecisionIsShownWithItsCandidates() {
    server.put(
        "/router/explain/chatcmpl-1",
        """
        {"request_id":"1","model":"m","mode":"kv","prompt_tokens":32,"waited_ms":0.5,"reason":"least_cost","narrowed_by":"none",
         "chosen":{"worker_id":5,"dp_rank":0},
         "candidates":[{"worker_id":5,"dp_rank":0,"overlap_blocks":{"device":2},"load":{"prefill_tokens":0,"active_blocks":4},"cost":1.25}]}
        """);

    var outcome = run("explain", "chatcmpl-1", "--url", url());

    assertThat(outcome.out()).contains("chosen: 5/0, because of least_cost").contains("1.250");
  }

  @Test
  void anErrorOfTheServerIsItsMessage() {
    var outcome = run("explain", "missing", "--url", url());

    assertThat(outcome.status()).isEqualTo(ExitCode.REFUSED);
    assertThat(outcome.error()).contains("answered 404: nothing here");
  }

  @Test
  void aServerIsReadyWhenItsProbeSaysSo() {
    server.put("/health/ready", "{\"status\":\"UP\",\"checks\":[]}");

    assertThat(run("ready", "--url", url()).out()).contains("is ready");
    assertThat(run("ready", "--url", url()).status()).isZero();
  }

  @Test
  void readyCommandNamesFailedChecks() {
    server.refuse(
        503,
        "{\"status\":\"DOWN\",\"checks\":[{\"name\":\"worker\",\"status\":\"DOWN\",\"data\":{\"state\":\"loading\"}},"
            + "{\"name\":\"planes\",\"status\":\"UP\"}]}");

    var outcome = run("ready", "--url", url());

    assertThat(outcome.status()).isEqualTo(ExitCode.REFUSED);
    assertThat(outcome.error()).contains("worker {state=loading}").doesNotContain("planes");
    assertThat(run("ready", "--url", url(), "--wait", "1").status()).isEqualTo(ExitCode.REFUSED);
    assertThat(run("ready", "--url", url(), "--wait", "-1").status()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void anAnswerIsPrintedFromItsStream() {
    server.put("/v1/models", "{\"data\":[{\"id\":\"m\"}]}");
    server.put(
        "/v1/chat/completions",
        """
        data: {"choices":[{"delta":{"role":"assistant","reasoning_content":"hm, "}}]}

        data: {"choices":[{"delta":{"content":"Par"}}]}

        : a heartbeat
        data: {"choices":[{"delta":{"content":"is"}}]}

        data: [DONE]
        """);

    assertThat(run("chat", "-m", "capital?", "--url", url()).out())
        .isEqualTo("hm, Paris%n".formatted());
  }

  @Test
  void anErrorInAStreamFailsTheCommand() {
    server.put("/v1/chat/completions", "data: {\"error\":{\"message\":\"the engine failed\"}}\n\n");

    var outcome = run("chat", "--model", "m", "-m", "hello", "--url", url());

    assertThat(outcome.status()).isEqualTo(ExitCode.REFUSED);
    assertThat(outcome.error()).contains("the engine failed");
  }

  @Test
  void aLoadIsMeasured() {
    server.put(
        "/v1/chat/completions",
        """
        data: {"choices":[{"delta":{"content":"a"}}]}

        data: {"choices":[],"usage":{"completion_tokens":2}}

        data: [DONE]
        """);

    var outcome =
        run(
            "bench",
            "--model",
            "m",
            "--requests",
            "5",
            "--concurrency",
            "2",
            "--json",
            "--url",
            url());

    assertThat(outcome.out()).contains("\"answered\":5", "\"failed\":0", "\"ttft_ms\":{\"p50\":");
    assertThat(outcome.status()).isZero();
  }

  @Test
  void quantilesAreValuesThatWereMeasured() {
    double[] values = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    assertThat(BenchCommand.quantile(values, 0.5)).isEqualTo(5);
    assertThat(BenchCommand.quantile(values, 0.99)).isEqualTo(10);
    assertThat(BenchCommand.quantile(new double[0], 0.5)).isNull();
  }

  @Test
  void noServerHasAStatusOfItsOwnAndARemedy() throws IOException {
    int free;
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }

    var outcome = run("models", "--url", "http://127.0.0.1:" + free);

    assertThat(outcome.status()).isEqualTo(ExitCode.UNREACHABLE);
    assertThat(outcome.error()).contains("no server answers at", "dynamo serve");
  }

  @Test
  void aWrongCommandLineHasStatusTwo() {
    assertThat(run("modles").status()).isEqualTo(ExitCode.USAGE);
    assertThat(run().status()).isEqualTo(ExitCode.USAGE);
    assertThat(run("bench", "--requests", "0").status()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void everyCommandHasHelpAndIsCompleted() {
    var completion = run("completion").out();

    DynamoCommand.parser()
        .getSubcommands()
        .keySet()
        .forEach(
            command -> {
              assertThat(run(command, "--help").status()).as(command).isZero();
              assertThat(completion).contains(command);
            });
  }

  @Test
  void theServerByDefaultIsTheOneOfTheEnvironment() {
    assertThat(ServerOptions.standard(Map.of())).isEqualTo(URI.create("http://127.0.0.1:8000"));
    assertThat(ServerOptions.standard(Map.of("DYN_HTTP_HOST", "::", "DYN_HTTP_PORT", "81")))
        .isEqualTo(URI.create("http://[::1]:81"));
    assertThat(ServerOptions.standard(Map.of("DYN_TLS_CERT_PATH", "/c.pem")).getScheme())
        .isEqualTo("https");
  }

  @Test
  void aConfigurationThatFitsHasNoProblem(@TempDir Path folder) throws IOException {
    var findings = Inspection.of(settings(folder, "dynamo.http.port = 0"));

    assertThat(findings).noneMatch(Inspection.Finding::isProblem);
    assertThat(findings).anyMatch(finding -> finding.text().contains("can be used"));
  }

  @Test
  void everyProblemIsFoundWithItsRemedy(@TempDir Path folder) throws IOException {
    try (var taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      Files.writeString(folder.resolve("store"), "a file");

      var findings = Inspection.of(settings(folder, "dynamo.http.port = " + taken.getLocalPort()));

      assertThat(findings.stream().filter(Inspection.Finding::isProblem))
          .extracting(Inspection.Finding::about)
          .containsExactly("port", "model", "discovery");
      assertThat(findings)
          .anyMatch(it -> it.text().contains("set dynamo.http.port to another port"))
          .anyMatch(it -> it.text().contains("set dynamo.worker.model-path"))
          .anyMatch(it -> it.text().contains("dynamo.discovery.file-root"));
    }
  }

  @Test
  void anEtcdThatDoesNotAnswerIsAProblem(@TempDir Path folder) throws IOException {
    int free;
    try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    var file =
        Files.writeString(
            folder.resolve("dynamo.properties"),
            """
            dynamo.http.port = 0
            dynamo.roles = frontend,router
            dynamo.native.extract-dir = %s
            dynamo.worker.model-path = %s
            dynamo.discovery.backend = etcd
            dynamo.discovery.etcd.endpoints = http://127.0.0.1:%d
            """
                .formatted(folder, folder, free));

    var findings = Inspection.of(OfflineSettings.of(Map.of(), file));

    assertThat(findings.stream().filter(Inspection.Finding::isProblem))
        .singleElement()
        .extracting(Inspection.Finding::text)
        .asString()
        .contains("127.0.0.1:" + free, "set dynamo.discovery.etcd.endpoints");
  }

  @Test
  void settingsThatTheServerWouldRefuseAreProblems(@TempDir Path folder) throws IOException {
    var findings = Inspection.of(settings(folder, "dynamo.http.prot = 1\ndynamo.roles = king"));

    assertThat(findings).hasSize(2).allMatch(Inspection.Finding::isProblem);
    assertThat(findings).anyMatch(it -> it.text().contains("dynamo.http.prot"));
  }

  /** Settings of a server with a model and a store in {@code folder}. */
  private static OfflineSettings settings(Path folder, String lines) throws IOException {
    if (Files.notExists(folder.resolve("store"))) {
      Files.writeString(folder.resolve("config.json"), "{}");
    }
    Files.writeString(folder.resolve("model.safetensors"), "");
    var file =
        Files.writeString(
            folder.resolve("dynamo.properties"),
            """
            dynamo.worker.model-path = %s
            dynamo.native.extract-dir = %s
            dynamo.discovery.backend = file
            dynamo.discovery.file-root = %s
            %s
            """
                .formatted(folder, folder, folder.resolve("store"), lines));
    return OfflineSettings.of(Map.of(), file);
  }
}
