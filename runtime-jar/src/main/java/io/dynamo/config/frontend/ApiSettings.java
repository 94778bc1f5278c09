package io.dynamo.config.frontend;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The settings of the frontend's API, with Dynamo's switches. Keys: {@code dynamo.frontend.*}.
 *
 * @param ignoreUnknownFields whether unknown top-level fields are dropped, not refused
 * @param forceUsage whether every stream ends with its usage
 * @param extension whether {@code nvext} and the routing headers are used
 * @param metadataHeader prefix of the headers whose pairs go to workers, in lower case
 * @param contextWindow overrides the cards' value in the list of models; null shows the cards' own
 * @param maxOutputTokens shown for every model in the list of models; null shows nothing
 * @param keepAlive silence in a stream before a comment; zero writes none
 * @param reasoningField name of the reasoning field in answers
 * @param dispatches events of chat streams beside the chunks
 * @param hideTools whether the template sees no tools when {@code tool_choice} is {@code none}
 * @param requestTemplate default model, temperature and budget of chat requests
 * @param drainTimeout how long streams may take to end when the frontend stops
 * @param migrationMaxTokens prompt and answer together above which no generation migrates; null is
 *     no bound
 * @param namespace the only namespace whose models are served; null serves all
 * @param namespacePrefix prefix of the namespaces that are served; null serves all
 */
public record ApiSettings(
    boolean ignoreUnknownFields,
    boolean forceUsage,
    boolean extension,
    String metadataHeader,
    @Nullable Integer contextWindow,
    @Nullable Integer maxOutputTokens,
    Duration keepAlive,
    ReasoningField reasoningField,
    DispatchEvents dispatches,
    boolean hideTools,
    @Nullable Path requestTemplate,
    Duration drainTimeout,
    @Nullable Integer migrationMaxTokens,
    @Nullable String namespace,
    @Nullable String namespacePrefix) {
  /** Names of the field with a message's reasoning. */
  public enum ReasoningField {
    REASONING_CONTENT,
    REASONING;

    /** Returns the name as written in JSON. */
    public String wireName() {
      return this == REASONING ? "reasoning" : "reasoning_content";
    }

    static ReasoningField parse(String text) {
      for (var field : values()) {
        if (field.wireName().equals(text)) {
          return field;
        }
      }
      throw new IllegalArgumentException("is not reasoning_content or reasoning");
    }
  }

  /** Whether models of a namespace are served. */
  public boolean serves(String namespaceOfModel) {
    return (namespace == null || namespace.equals(namespaceOfModel))
        && (namespacePrefix == null || namespaceOfModel.startsWith(namespacePrefix));
  }
}
