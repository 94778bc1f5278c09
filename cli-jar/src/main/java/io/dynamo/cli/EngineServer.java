package io.dynamo.cli;

import java.net.URI;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A running server of an engine, as it describes itself. A null value is one that it does not tell.
 *
 * @param models the names under which it serves
 * @param source where it has the model from: a folder, a name of a model hub or a file
 * @param context tokens of one sequence
 * @param blocks KV blocks of one rank
 * @param ranks data-parallel ranks; 1 where it does not tell
 * @param slots generations that it runs at once
 */
record EngineServer(
    Kind kind,
    URI address,
    @Nullable String version,
    List<String> models,
    @Nullable String source,
    @Nullable Integer context,
    @Nullable Integer blockTokens,
    @Nullable Integer blocks,
    int ranks,
    @Nullable Integer slots) {
  /** The kinds of server. */
  enum Kind {
    VLLM("vLLM"),
    SGLANG("SGLang"),
    TRTLLM("TensorRT-LLM"),
    LLAMACPP("llama.cpp's server"),
    DYNAMO("a Dynamo frontend"),
    OTHER("an OpenAI server of unknown make");

    private final String title;

    Kind(String title) {
      this.title = title;
    }

    /** Returns the name for people. */
    String title() {
      return title;
    }
  }

  EngineServer {
    models = List.copyOf(models);
  }
}
