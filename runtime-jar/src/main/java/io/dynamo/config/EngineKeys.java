package io.dynamo.config;

import static io.dynamo.config.Bound.WAIT;
import static io.dynamo.config.Bound.none;
import static io.dynamo.config.SettingType.DURATION;

import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.List;

/** The settings of single engines, in the order of the documentation. */
final class EngineKeys {
  private static final KeyList KEYS = new KeyList();
  private static final SettingType<URI> HTTP_URL =
      new SettingType<>("http or https URL", EngineKeys::httpUrl);

  static final SettingKey<URI> LLAMACPP_URL =
      KEYS.key(
          "dynamo.worker.llamacpp.url",
          HTTP_URL,
          "http://127.0.0.1:8080",
          none(),
          "where llama.cpp's server is, for the `llamacpp` engine");
  static final SettingKey<Duration> LLAMACPP_START_TIMEOUT =
      KEYS.key(
          "dynamo.worker.llamacpp.start-timeout",
          DURATION,
          "60s",
          WAIT,
          "how long the worker's start waits for llama.cpp's server to have loaded its model");
  static final SettingKey<Duration> LLAMACPP_SILENCE_TIMEOUT =
      KEYS.key(
          "dynamo.worker.llamacpp.silence-timeout",
          DURATION,
          "2m",
          WAIT,
          "how long llama.cpp's server may send nothing of an answer; the generation then goes on elsewhere");

  private EngineKeys() {}

  private static URI httpUrl(String text) {
    try {
      var url = new URI(text);
      boolean http = "http".equals(url.getScheme()) || "https".equals(url.getScheme());
      var path = url.getPath();
      if (http
          && url.getHost() != null
          && url.getUserInfo() == null
          && url.getQuery() == null
          && (path.isEmpty() || path.equals("/"))) {
        return url;
      }
    } catch (URISyntaxException e) {
      throw new IllegalArgumentException("is not a URL", e);
    }
    throw new IllegalArgumentException("is not http or https, a host and a port, without a path");
  }

  static List<SettingKey<?>> all() {
    return KEYS.all();
  }
}
