package io.dynamo.frontend.warmup;

import io.dynamo.discovery.EndpointId;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.Readiness;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.Set;

/** A catalog of the one model that warm-ups use. No other part of the server knows it. */
final class WarmUpModel implements ModelCatalog {
  static final String NAME = "warm-up";
  static final EndpointId ENDPOINT = new EndpointId("warm-up", "warm-up", "generate");

  private static final int CONTEXT = 4096;
  private static final int BLOCK = 16;

  private final ServedModel model;

  WarmUpModel(ModelText text, long nowSeconds) {
    var card =
        new ModelCard(
            NAME,
            NAME,
            null,
            null,
            null,
            null,
            null,
            null,
            null,
            CONTEXT,
            BLOCK,
            0,
            Set.of("Chat", "Completions"),
            "Tokens",
            null,
            List.of(),
            Map.of());
    model = new ServedModel(card, ENDPOINT, text, nowSeconds);
  }

  @Override
  public List<ServedModel> models() {
    return List.of(model);
  }

  @Override
  public Optional<ServedModel> find(String name) {
    return isKnown(name) ? Optional.of(model) : Optional.empty();
  }

  @Override
  public List<ServedModel> sets(String name) {
    return find(name).stream().toList();
  }

  @Override
  public Optional<ServedModel> choose(String name, Query query) {
    return find(name).filter(found -> query.takes(found.card()));
  }

  @Override
  public boolean isKnown(String name) {
    return name.equals(NAME);
  }

  @Override
  public SequencedMap<String, Set<String>> waiting() {
    return Collections.emptyNavigableMap();
  }

  @Override
  public Optional<Readiness> readiness(String name) {
    return Optional.empty();
  }

  @Override
  public List<ServedModel> successors(ServedModel lost) {
    return List.of();
  }
}
