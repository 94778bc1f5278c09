package io.dynamo.config.frontend;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The switches of the frontend's API, as Dynamo has them. Keys: {@code dynamo.frontend.*}.
 *
 * @param ignoreUnknownFields whether top-level fields that nobody knows are dropped, not refused
 * @param forceUsage whether every stream ends with its usage
 * @param extension whether {@code nvext} and the headers that route are heeded
 * @param metadataHeader beginning of the headers whose pairs go to workers, in lower case
 * @param contextWindow what the list of models tells in place of the cards; null tells theirs
 * @param maxOutputTokens what the list of models tells of every model; null tells nothing
 * @param keepAlive silence in a stream before a comment; zero writes none
 * @param reasoningField what thoughts are called in answers
 * @param hideTools whether the template sees no tools when {@code tool_choice} is {@code none}
 * @param requestTemplate what chat requests that do not say get as model, temperature and budget
 * @param drainTimeout how long streams may take to end when the frontend stops
 * @param migrationMaxTokens prompt and answer together above which nothing moves; null is no bound
 * @param namespace the only one whose models are served; null serves all
 * @param namespacePrefix how the names of those served begin; null serves all
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
    boolean hideTools,
    @Nullable Path requestTemplate,
    Duration drainTimeout,
    @Nullable Integer migrationMaxTokens,
    @Nullable String namespace,
    @Nullable String namespacePrefix) {
  /** Names of the field with a message's thoughts. */
  public enum ReasoningField {
    REASONING_CONTENT,
    REASONING;

    /** As it is written in JSON. */
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
