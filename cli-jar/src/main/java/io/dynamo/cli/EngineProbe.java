package io.dynamo.cli;

import io.dynamo.cli.EngineServer.Kind;
import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Detects the kind of engine behind a running server, and its models. Only reads: no request
 * generates anything. Trusts nothing of the answers: texts with control characters are refused. For
 * one thread.
 */
final class EngineProbe {
  private static final String MODELS = "/v1/models";
  private static final String CACHE = "vllm:cache_config_info{";
  private static final Pattern LABEL = Pattern.compile("(\\w+)=\"((?:[^\"\\\\]|\\\\.)*)\"");
  private static final int MOST_CHARACTERS = 1024; // of a name or path

  private final ServerClient client;

  EngineProbe(ServerClient client) {
    this.client = client;
  }

  /**
   * Returns the base address, without a path such as {@code /v1} that an OpenAI client appends.
   *
   * @throws RefusedException when it is no address of a server
   */
  static URI base(URI url) {
    var path = url.getPath() == null ? "" : url.getPath().replaceAll("/+$", "");
    if (!List.of("http", "https").contains(String.valueOf(url.getScheme()))
        || url.getHost() == null
        || url.getUserInfo() != null
        || url.getQuery() != null
        || !(path.isEmpty() || path.equals("/v1"))) {
      throw new RefusedException(
          "%s is not http or https, a host and a port; name the server's root, as http://127.0.0.1:8000"
              .formatted(url));
    }
    return URI.create("%s://%s".formatted(url.getScheme(), url.getRawAuthority()));
  }

  /**
   * Asks the server.
   *
   * @throws RefusedException when it does not answer in OpenAI's form
   */
  EngineServer ask() {
    try {
      return read();
    } catch (IllegalArgumentException e) {
      throw new RefusedException(
          "%s answers in no form of a known engine: %s; is it another service?"
              .formatted(client.server(), e.getMessage()));
    }
  }

  private EngineServer read() {
    var listed = models();
    var first = listed.getFirst();
    var names = listed.stream().map(model -> text(model, "id")).toList();
    return switch (String.valueOf(first.optionalText("owned_by"))) {
      case "vllm" -> vllm(first, names);
      case "sglang" -> sglang(first, names);
      case "llamacpp" -> llamaCpp(names);
      case "tensorrt_llm" -> trtllm(names);
      case "nvidia" -> plain(Kind.DYNAMO, names, null, first.optionalCount("context_window"), null);
      default -> byRoutes(first, names);
    };
  }

  /**
   * Detects the engine by its routes, because proxies and older versions change the owner of a
   * model.
   */
  private EngineServer byRoutes(JsonObject first, List<String> names) {
    if (find("/props", "default_generation_settings") != null) {
      return llamaCpp(names);
    }
    if (find("/model_info", "is_generation") != null
        || find("/get_model_info", "is_generation") != null) {
      return sglang(first, names);
    }
    if (find("/version", "version") != null) {
      if (client.get("/prometheus/metrics").text().contains("trtllm_")) {
        return trtllm(names); // whose /metrics is not asked for: it gives its statistics once
      }
      if (metrics().contains("vllm:")) {
        return vllm(first, names);
      }
    }
    return plain(Kind.OTHER, names, null, first.optionalCount("max_model_len"), null);
  }

  private List<JsonObject> models() {
    var answer = client.get(MODELS);
    if (answer.status() == 401 || answer.status() == 403) {
      throw new RefusedException(
          "%s wants a key; name a file that holds it with --key-file".formatted(client.server()));
    }
    var read = answer.status() == 200 ? object(answer.text()) : null;
    var models = read == null ? List.<JsonObject>of() : read.optionalObjects("data");
    if (models.isEmpty()) {
      throw new RefusedException(
          "%s%s answers %d and lists no model; name the address of an engine's OpenAI server that has loaded its model"
              .formatted(client.server(), MODELS, answer.status()));
    }
    return models;
  }

  private EngineServer vllm(JsonObject model, List<String> names) {
    var caches = caches();
    var first = caches.isEmpty() ? Map.<String, String>of() : caches.getFirst();
    return new EngineServer(
        Kind.VLLM,
        client.server(),
        version("/version"),
        names,
        optionalText(model, "root"),
        model.optionalCount("max_model_len"),
        count(first.get("block_size")),
        count(first.get("num_gpu_blocks")),
        Math.max(1, caches.size()),
        null);
  }

  private EngineServer sglang(JsonObject model, List<String> names) {
    var found = find("/server_info");
    var info = found == null ? find("/get_server_info") : found;
    var page = positive(info, "page_size");
    var tokens = positive(info, "max_total_num_tokens");
    var ranks = positive(info, "dp_size");
    var context = model.optionalCount("max_model_len");
    return new EngineServer(
        Kind.SGLANG,
        client.server(),
        info == null ? null : optionalText(info, "version"),
        names,
        optionalText(model, "root"),
        context == null ? positive(info, "context_length") : context,
        page,
        page == null || tokens == null ? null : tokens / page,
        ranks == null ? 1 : ranks,
        null);
  }

  private EngineServer llamaCpp(List<String> names) {
    var props = find("/props", "default_generation_settings");
    if (props == null) {
      return plain(Kind.LLAMACPP, names, null, null, null);
    }
    var slot = props.optionalObject("default_generation_settings");
    return new EngineServer(
        Kind.LLAMACPP,
        client.server(),
        optionalText(props, "build_info"),
        names,
        optionalText(props, "model_path"),
        slot == null ? null : slot.optionalCount("n_ctx"),
        null,
        null,
        1,
        props.optionalCount("total_slots"));
  }

  /**
   * Reads little: the server tells neither its context nor its ranks, and its statistics, which
   * have the size of its cache, are given once, to their first reader.
   */
  private EngineServer trtllm(List<String> names) {
    var first = names.getFirst(); // the name at the hub, or that of its folder
    return plain(
        Kind.TRTLLM, names, version("/version"), null, ModelFolder.isHubName(first) ? first : null);
  }

  private EngineServer plain(
      Kind kind,
      List<String> names,
      @Nullable String version,
      @Nullable Integer context,
      @Nullable String source) {
    return new EngineServer(
        kind, client.server(), version, names, source, context, null, null, 1, null);
  }

  private @Nullable String version(String path) {
    var answer = find(path, "version");
    return answer == null ? null : optionalText(answer, "version");
  }

  /** Returns the object at a path; null when there is none with this member. */
  private @Nullable JsonObject find(String path, String member) {
    var read = find(path);
    return read == null || read.members().get(member) == null ? null : read;
  }

  /** Returns the object at a path; null when there is none. */
  private @Nullable JsonObject find(String path) {
    var answer = client.get(path);
    return answer.status() == 200 ? object(answer.text()) : null;
  }

  private static @Nullable JsonObject object(String text) {
    try {
      return Json.readObject(text.getBytes(StandardCharsets.UTF_8));
    } catch (IllegalArgumentException _) {
      return null; // a page for people, for one
    }
  }

  /** Returns a number above 0; null when the server gives none. */
  private static @Nullable Integer positive(@Nullable JsonObject info, String name) {
    return info != null && info.members().get(name) instanceof Integer count && count > 0
        ? count
        : null;
  }

  private String metrics() {
    var answer = client.get("/metrics");
    return answer.status() == 200 ? answer.text() : "";
  }

  /** Returns the labels of the cache of each rank; empty when the server has no such metric. */
  private List<Map<String, String>> caches() {
    var caches = new ArrayList<Map<String, String>>();
    metrics()
        .lines()
        .filter(line -> line.startsWith(CACHE))
        .forEach(
            line -> {
              var labels = new HashMap<String, String>();
              var each = LABEL.matcher(line);
              while (each.find()) {
                labels.put(each.group(1), each.group(2));
              }
              caches.add(labels);
            });
    return caches;
  }

  private static @Nullable Integer count(@Nullable String text) {
    return text == null || !text.matches("[1-9]\\d{0,8}") ? null : (Integer) Integer.parseInt(text);
  }

  private String text(JsonObject object, String member) {
    var text = optionalText(object, member);
    if (text == null || text.isBlank()) {
      throw new RefusedException(
          "%s%s lists a model without \"%s\"".formatted(client.server(), MODELS, member));
    }
    return text;
  }

  /** Returns a text that can be printed on a terminal and written into a file of settings. */
  private @Nullable String optionalText(JsonObject object, String member) {
    var text = object.optionalText(member);
    if (text != null
        && (text.length() > MOST_CHARACTERS || text.chars().anyMatch(Character::isISOControl))) {
      throw new RefusedException(
          "%s has a \"%s\" of %d characters that cannot be used: at most %d, none of them a control character"
              .formatted(client.server(), member, text.length(), MOST_CHARACTERS));
    }
    return text;
  }
}
