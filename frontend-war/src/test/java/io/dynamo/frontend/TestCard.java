package io.dynamo.frontend;

import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The card of a model that chats; a test says what else matters to it. Used by one thread. */
public final class TestCard {
  private final String name;
  private int contextLength = 4096;
  private int blockTokens = 16;
  private int migrationLimit;
  private Set<String> modelTypes = Set.of("Chat");
  private @Nullable ModelFile tokenizer;
  private @Nullable String workerType;
  private List<List<String>> needs = List.of();
  private @Nullable ModelFile template;
  private Map<String, @Nullable Object> runtimeConfig = Map.of();
  private String modelInput = "Tokens";
  private List<String> aliases = List.of();
  private Map<String, @Nullable Object> tensorConfig = Map.of();

  private TestCard(String name) {
    this.name = name;
  }

  public static TestCard named(String name) {
    return new TestCard(name);
  }

  /** In tokens. */
  public TestCard contextLength(int tokens) {
    this.contextLength = tokens;
    return this;
  }

  public TestCard blockTokens(int tokens) {
    this.blockTokens = tokens;
    return this;
  }

  public TestCard migrationLimit(int migrations) {
    this.migrationLimit = migrations;
    return this;
  }

  public TestCard modelTypes(Set<String> types) {
    this.modelTypes = types;
    return this;
  }

  public TestCard tokenizer(ModelFile file) {
    this.tokenizer = file;
    return this;
  }

  public TestCard workerType(@Nullable String type) {
    this.workerType = type;
    return this;
  }

  /** Alternatives of worker types that must be live beside it. */
  public TestCard needs(List<List<String>> types) {
    this.needs = types;
    return this;
  }

  public TestCard template(ModelFile file) {
    this.template = file;
    return this;
  }

  public TestCard runtimeConfig(Map<String, @Nullable Object> config) {
    this.runtimeConfig = config;
    return this;
  }

  public TestCard modelInput(String input) {
    this.modelInput = input;
    return this;
  }

  public TestCard aliases(String... names) {
    this.aliases = List.of(names);
    return this;
  }

  public TestCard tensorConfig(Map<String, @Nullable Object> config) {
    this.tensorConfig = config;
    return this;
  }

  public ModelCard build() {
    return new ModelCard(
            name,
            name,
            null,
            null,
            tokenizer,
            null,
            template,
            null,
            null,
            contextLength,
            blockTokens,
            migrationLimit,
            modelTypes,
            modelInput,
            workerType,
            needs,
            runtimeConfig)
        .withAliases(aliases)
        .withTensorConfig(tensorConfig);
  }
}
