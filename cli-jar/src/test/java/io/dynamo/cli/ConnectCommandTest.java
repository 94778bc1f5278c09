package io.dynamo.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.dynamo.config.OfflineSettings;
import io.dynamo.config.worker.EngineKind;
import io.dynamo.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The answers of the engines are recordings of real ones. */
class ConnectCommandTest {
  private static final Path AUTHORITY =
      Path.of("src/test/resources/authority.pem").toAbsolutePath();

  @TempDir private Path folder;
  private AnsweringServer server;

  @BeforeEach
  void startServer() throws IOException {
    server = new AnsweringServer();
    Files.writeString(folder.resolve("config.json"), "{}");
    Files.writeString(folder.resolve("tokenizer.json"), "{}");
  }

  @AfterEach
  void stopServer() {
    server.close();
  }

  /** The body of a recorded answer: request line, body, blank line, status line, answer. */
  private static String recorded(String name) {
    try {
      var text = Files.readString(Path.of("src/test/resources/golden", name));
      return text.split("\n", 5)[4];
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private void serveAsVllm() {
    server
        .put("/v1/models", recorded("vllm-0.32.0/models.txt"))
        .put("/version", recorded("vllm-0.32.0/version.txt"))
        .put("/metrics", recorded("vllm-0.32.0/metrics.txt"));
  }

  private void serveAsLlamaCpp() {
    server
        .put("/v1/models", recorded("llama-server/models.txt"))
        .put("/props", recorded("llama-server/props.txt"));
  }

  private Map<String, String> environment() {
    return Map.of("DYNAMO_NATIVE_EXTRACT_DIR", folder.toString()); // whose default is a server's
  }

  private CommandOutcome connect(String... arguments) {
    var all = new ArrayList<>(List.of("connect", server.url()));
    all.addAll(List.of(arguments));
    return CommandOutcome.of(all.toArray(String[]::new));
  }

  @Test
  void theSettingsBeforeVllmAreThoseThatItTells() throws IOException {
    serveAsVllm();
    var file = folder.resolve("vllm.properties");

    var outcome = connect("--model-path", folder.toString(), "--save", file.toString());

    assertThat(outcome.out())
        .contains("vLLM 0.32.0 at " + server.url() + " serves tiny")
        .contains("4096 tokens", "160 blocks of 32 tokens on each of 1 rank")
        .contains("dynamo serve --config " + file);
    assertThat(outcome.status()).isZero();
    var worker = OfflineSettings.of(environment(), file).read().workers().getFirst();
    assertThat(worker.engine()).isEqualTo(EngineKind.VLLM);
    assertThat(worker.remote().url()).isEqualTo(URI.create(server.url()));
    assertThat(worker.modelName()).isEqualTo("tiny");
    assertThat(worker.modelPath()).isEqualTo(folder);
    assertThat(worker.ranks()).isEqualTo(1);
  }

  @Test
  void eachRankOfVllmIsARankOfTheWorker() {
    serveAsVllm();
    var metrics = recorded("vllm-0.32.0/metrics.txt");
    server.put("/metrics", metrics + "\n" + metrics.replace("engine=\"0\"", "engine=\"1\""));

    assertThat(connect("--model-path", folder.toString()).out())
        .contains("on each of 2 ranks", "DYNAMO_WORKER_RANKS=2");
  }

  @Test
  void theCommandIsOneThatAShellReads() throws Exception {
    var odd = Files.createDirectory(folder.resolve("it's a model"));
    Files.writeString(odd.resolve("config.json"), "{}");
    Files.writeString(odd.resolve("tokenizer.json"), "{}");
    serveAsVllm();

    var printed = connect("--model-path", odd.toString()).out();
    var begin = printed.indexOf("DYNAMO_WORKER_ENGINE");
    var command = printed.substring(begin, printed.indexOf("dynamo serve", begin));
    var shell =
        new ProcessBuilder("sh", "-c", command + "sh -c 'printf %s \"$DYNAMO_WORKER_MODEL_PATH\"'")
            .redirectErrorStream(true)
            .start();

    assertThat(new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8))
        .isEqualTo(odd.toString());
  }

  @Test
  void theModelIsFoundInTheCacheOfTheHub() throws IOException {
    var snapshot =
        Files.createDirectories(folder.resolve("models--org--name").resolve("snapshots/abc"));
    Files.createDirectories(folder.resolve("models--org--name/refs"));
    Files.writeString(folder.resolve("models--org--name/refs/main"), "abc");
    Files.writeString(snapshot.resolve("config.json"), "{}");
    var environment = Map.of("HF_HUB_CACHE", folder.toString());

    assertThat(ModelFolder.find("org/name", environment)).isNull();
    Files.writeString(snapshot.resolve("tokenizer.json"), "{}");
    assertThat(ModelFolder.find("org/name", environment)).isEqualTo(snapshot);
    assertThat(ModelFolder.find("org/../name", environment)).isNull();
    assertThat(ModelFolder.find("relative/tiny.gguf", environment)).isNull();
    assertThat(ModelFolder.find(folder.toString(), Map.of())).isEqualTo(folder);
    assertThat(ModelFolder.find("bad\0path", environment)).isNull();
  }

  @Test
  void aModelThatIsNotHereIsAProblemWithTheDownload() {
    serveAsVllm();
    server.put(
        "/v1/models",
        recorded("vllm-0.32.0/models.txt").replace("\"tiny-model/hf\"", "\"org/name-of-none\""));

    var outcome = connect();

    assertThat(outcome.status()).isEqualTo(ExitCode.REFUSED);
    assertThat(outcome.out())
        .contains(
            "missing: ",
            "hf download org/name-of-none --include '*.json' '*.jinja' 'tiktoken.model' '*.tiktoken' ",
            "--model-path")
        .doesNotContain("dynamo serve");
  }

  @Test
  void aFolderNeedsOneOfTheKindsOfTokenizers() throws IOException {
    var model = Files.createDirectory(folder.resolve("kimi"));
    Files.writeString(model.resolve("config.json"), "{}");
    assertThat(ModelFolder.missing(model)).containsExactly("tokenizer.json or tiktoken.model");
    Files.writeString(model.resolve("tiktoken.model"), "");
    assertThat(ModelFolder.missing(model)).isEmpty();
  }

  @Test
  void aModelThatTheServerDoesNotServeIsAProblem() {
    serveAsVllm();

    assertThat(connect("--model", "large", "--model-path", folder.toString()).out())
        .contains("it serves [tiny], not \"large\"");
  }

  @Test
  void llamaCppIsAskedForSlotsAndContextAndNamedWithoutItsFile() throws IOException {
    serveAsLlamaCpp();
    var file = folder.resolve("llama.properties");

    var outcome = connect("--model-path", folder.toString(), "--save", file.toString());

    assertThat(outcome.out()).contains("llama.cpp's server", "4096 tokens", "slots     4");
    var worker = OfflineSettings.of(environment(), file).read().workers().getFirst();
    assertThat(worker.engine()).isEqualTo(EngineKind.LLAMACPP);
    assertThat(worker.llamaCpp().urls()).containsExactly(URI.create(server.url()));
    assertThat(worker.modelName()).isEqualTo("tiny-f16");
  }

  @Test
  void theSettingsBeforeSglangNameItsEngine() throws IOException {
    server
        .put("/v1/models", recorded("sglang-0.5.23/models.txt"))
        .put("/model_info", recorded("sglang-0.5.23/model-info.txt"));
    var file = folder.resolve("sglang.properties");

    var outcome = connect("--model-path", folder.toString(), "--save", file.toString());

    assertThat(outcome.out()).contains("SGLang at", "4096 tokens");
    var worker = OfflineSettings.of(environment(), file).read().workers().getFirst();
    assertThat(worker.engine()).isEqualTo(EngineKind.SGLANG);
    assertThat(worker.remote().url()).isEqualTo(URI.create(server.url()));
  }

  @Test
  void eachRankOfSglangIsARankOfTheWorker() {
    server
        .put("/v1/models", recorded("sglang-0.5.23/models.txt"))
        .put(
            "/server_info",
            "{\"version\":\"0.5.23\",\"page_size\":16,\"max_total_num_tokens\":65536,\"dp_size\":4}");

    var outcome = connect("--model-path", folder.toString());

    assertThat(outcome.out())
        .contains("SGLang 0.5.23 at", "4096 blocks of 16 tokens on each of 4 ranks")
        .contains("DYNAMO_WORKER_RANKS=4");
  }

  @Test
  void anOlderSglangIsAskedForItsRanksByItsOlderRoute() {
    server
        .put("/v1/models", recorded("sglang-0.5.23/models.txt"))
        .put("/get_server_info", "{\"version\":\"0.4\",\"dp_size\":2}");

    assertThat(connect("--model-path", folder.toString()).out())
        .contains("SGLang 0.4 at", "DYNAMO_WORKER_RANKS=2");
  }

  @Test
  void certificatesArePartOfTheSettings() throws IOException {
    serveAsVllm();
    var file = folder.resolve("tls.properties");

    var outcome =
        connect(
            "--model-path", folder.toString(),
            "--ca", AUTHORITY.toString(),
            "--save", file.toString());

    assertThat(outcome.status()).isZero();
    var worker = OfflineSettings.of(environment(), file).read().workers().getFirst();
    assertThat(worker.remote().authorities()).isEqualTo(AUTHORITY);
  }

  @Test
  void keyAndCertificatesForLlamaCppArePartOfTheSettings() throws IOException {
    serveAsLlamaCpp();
    var keyFile = Files.writeString(folder.resolve("key"), "secret\n");
    var file = folder.resolve("llama.properties");

    var outcome =
        connect(
            "--model-path", folder.toString(),
            "--ca", AUTHORITY.toString(),
            "--key-file", keyFile.toString(),
            "--save", file.toString());

    assertThat(outcome.status()).isZero();
    var worker = OfflineSettings.of(environment(), file).read().workers().getFirst();
    assertThat(worker.remote().authorities()).isEqualTo(AUTHORITY);
    assertThat(worker.remote().keyFile()).isEqualTo(keyFile);
  }

  /** Forms of the answers as in the sources of TensorRT-LLM, which does not run here. */
  private void serveAsTrtllm(String owner, String name) {
    server
        .put(
            "/v1/models",
            "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\",\"created\":1,\"owned_by\":\"%s\"}]}"
                .formatted(name, owner))
        .put("/version", "{\"version\":\"1.2.0\"}")
        .put("/metrics", "[]")
        .put("/prometheus/metrics", "# TYPE trtllm_request_success_total counter\n");
  }

  @Test
  void theSettingsBeforeTensorRtLlmNameItsEngine() throws IOException {
    serveAsTrtllm("tensorrt_llm", "tiny");
    var file = folder.resolve("trtllm.properties");

    var outcome = connect("--model-path", folder.toString(), "--save", file.toString());

    assertThat(outcome.out()).contains("TensorRT-LLM 1.2.0 at " + server.url() + " serves tiny");
    var worker = OfflineSettings.of(environment(), file).read().workers().getFirst();
    assertThat(worker.engine()).isEqualTo(EngineKind.TRTLLM);
    assertThat(worker.remote().url()).isEqualTo(URI.create(server.url()));
    assertThat(worker.modelName()).isEqualTo("tiny");
  }

  @Test
  void tensorRtLlmBehindAProxyIsKnownByItsMetricsAndItsModelByTheHub() {
    serveAsTrtllm("proxy", "org/name-of-none");

    assertThat(connect().out())
        .contains("TensorRT-LLM 1.2.0", "hf download org/name-of-none", "--model-path");
  }

  @Test
  void aFileWithSpacesIsQuotedInTheCommand() {
    serveAsVllm();
    var file = folder.resolve("my settings");

    assertThat(connect("--model-path", folder.toString(), "--save", file.toString()).out())
        .contains("dynamo serve --config '" + file + "'");
  }

  @Test
  void anEngineBehindAProxyIsKnownByItsRoutes() {
    serveAsLlamaCpp();
    server.put(
        "/v1/models", recorded("llama-server/models.txt").replace("\"llamacpp\"", "\"proxy\""));

    assertThat(connect("--model-path", folder.toString()).out()).contains("llama.cpp's server");
  }

  @Test
  void anUnknownServerIsAskedByText() throws IOException {
    server.put(
        "/v1/models",
        "{\"data\":[{\"id\":\"m\",\"owned_by\":\"someone\"},{\"id\":\"n\",\"owned_by\":\"someone\"}]}");
    var file = folder.resolve("other.properties");

    assertThat(connect().out()).contains("unknown make", "tokenizer is not on this machine");
    var outcome = connect("--model-path", folder.toString(), "--save", file.toString());

    assertThat(outcome.status()).isZero();
    assertThat(outcome.out()).contains("by text", "docs/engines.md");
    var worker = OfflineSettings.of(environment(), file).read().workers().getFirst();
    assertThat(worker.engine()).isEqualTo(EngineKind.OPENAI);
    assertThat(worker.remote().model()).isEqualTo("m");
  }

  @Test
  void answersOfAnotherServiceAreRefused() {
    server.put("/v1/models", "{\"data\":[{\"id\":7}]}");

    assertThat(connect().error()).contains("no form of a known engine");
    server.put("/v1/models", "<html>a page</html>");
    assertThat(connect().error()).contains("lists no model");
  }

  @Test
  void aFrontendOfDynamoNeedsNoWorker() {
    server.put("/v1/models", "{\"data\":[{\"id\":\"m\",\"owned_by\":\"nvidia\"}]}");

    assertThat(connect().out()).contains("a Dynamo frontend", "one discovery");
  }

  @Test
  void theKeyIsSentAndItsFileIsPartOfTheSettings() throws IOException {
    serveAsVllm();
    server.require("Bearer secret");
    var keyFile = Files.writeString(folder.resolve("key"), "secret\n");

    assertThat(connect().error()).contains("wants a key", "--key-file");
    var outcome = connect("--model-path", folder.toString(), "--key-file", keyFile.toString());

    assertThat(outcome.out())
        .contains("DYNAMO_WORKER_REMOTE_KEY_FILE=" + keyFile)
        .doesNotContain("secret");
    assertThat(server.keys()).contains("", "Bearer secret");
  }

  @Test
  void textsThatCouldControlATerminalAreRefused() {
    server.put("/v1/models", "{\"data\":[{\"id\":\"a\\u001b[2J\",\"owned_by\":\"vllm\"}]}");

    var outcome = connect();

    assertThat(outcome.status()).isEqualTo(ExitCode.REFUSED);
    assertThat(outcome.error()).contains("control character").doesNotContain("\u001b");
  }

  @Test
  void theSameIsThereAsJson() {
    serveAsVllm();

    var outcome = connect("--json", "--model-path", folder.toString());

    var object = Json.readObject(outcome.out().getBytes(StandardCharsets.UTF_8));
    assertThat(object.text("engine")).isEqualTo("vllm");
    assertThat(object.count("blocks_per_rank")).isEqualTo(160);
    assertThat(object.object("settings").text("dynamo.worker.engine")).isEqualTo("vllm");
    assertThat(object.list("problems")).isEmpty();
  }

  @Test
  void anAddressWithAnOpenAiPathIsUnderstoodAndOthersAreRefused() {
    serveAsVllm();

    assertThat(CommandOutcome.of("connect", server.url() + "/v1/").out()).contains("vLLM 0.32.0");
    assertThat(CommandOutcome.of("connect", server.url() + "/other").error())
        .contains("is not http or https, a host and a port");
    assertThat(CommandOutcome.of("connect", "ftp://127.0.0.1").status())
        .isEqualTo(ExitCode.REFUSED);
  }

  @Test
  void settingsDoNotReplaceAFile() throws IOException {
    serveAsVllm();
    var file = Files.writeString(folder.resolve("mine"), "kept");

    var outcome = connect("--model-path", folder.toString(), "--save", file.toString());

    assertThat(outcome.status()).isEqualTo(ExitCode.REFUSED);
    assertThat(file).hasContent("kept");
  }

  @Test
  void aServerThatDoesNotAnswerHasItsStatusAndRemedy() throws IOException {
    server.close();
    var outcome = connect();
    server = new AnsweringServer();

    assertThat(outcome.status()).isEqualTo(ExitCode.UNREACHABLE);
    assertThat(outcome.error()).contains("start the engine's server").doesNotContain("--url");
  }
}
