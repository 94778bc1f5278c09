package io.dynamo.frontend.kserve;

import io.dynamo.frontend.ApiError;
import io.dynamo.frontend.ApiException;
import io.dynamo.frontend.catalog.ListedNames;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import io.dynamo.model.ModelCard;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;

/** Answers what KServe's clients ask about models. Safe for concurrent use; never blocks. */
public final class ModelDirectory {
  private static final String COMPLETIONS = "Completions";
  private static final String TENSORS = "TensorBased";

  private final ModelCatalog catalog;
  private final InferenceStatistics statistics;

  public ModelDirectory(ModelCatalog catalog) {
    this.catalog = catalog;
    this.statistics = new InferenceStatistics(InstantSource.system()::millis, catalog::isKnown);
  }

  /** Counts a request that has ended. Models that are not served are not counted. */
  public void recordInference(String name, boolean success, long nanos) {
    catalog
        .find(name)
        .filter(ModelDirectory::isServed)
        .ifPresent(model -> statistics.record(model.name(), success, nanos));
  }

  /**
   * Returns the requests of a model, or of all.
   *
   * @param named without a name for all models
   * @throws ApiException with 404 when there is no such model
   */
  public List<ModelStatistics> statistics(NamedModel named) {
    if (!named.name().isEmpty()) {
      var model =
          catalog
              .find(named.require().name())
              .filter(ModelDirectory::isServed)
              .orElseThrow(named::notFound);
      return List.of(new ModelStatistics(model.name(), statistics.of(model.name())));
    }
    return catalog.models().stream()
        .filter(ModelDirectory::isServed)
        .map(model -> new ModelStatistics(model.name(), statistics.of(model.name())))
        .toList();
  }

  /** Whether any model is ready. */
  public boolean isServerReady() {
    return !catalog.models().isEmpty();
  }

  /** Whether the model of that name or alias takes requests now; false when there is none. */
  public boolean isReady(NamedModel named) {
    return named.hasVersion() && catalog.find(named.name()).isPresent();
  }

  /** Whether a card of that name is known, although no worker may be ready. */
  public boolean isKnown(NamedModel named) {
    return named.hasVersion() && catalog.isKnown(named.name());
  }

  /**
   * Describes a model.
   *
   * @throws ApiException with 404 when there is none, or none that this protocol serves; with 400
   *     or 502 when its workers do not describe their tensors
   */
  public ModelDescription describe(NamedModel named) {
    var model =
        catalog
            .find(named.require().name())
            .filter(ModelDirectory::isServed)
            .orElseThrow(named::notFound);
    if (takesTexts(model.card())) {
      return ModelDescription.ofTexts(model.name());
    }
    return CardTensors.of(model.card())
        .orElseThrow(
            () ->
                new ApiException(
                    ApiError.of(
                        400,
                        "Model '%s' takes tensors, and its workers' card has no tensor_model_config that describes them"
                            .formatted(ApiError.shown(model.name())))));
  }

  /** Whether requests to the model of that name or alias go to workers that take tensors. */
  public boolean takesTensors(String name) {
    boolean tensors = false;
    for (var set : catalog.sets(name)) {
      if (takesTexts(set.card())) {
        return false;
      }
      tensors |= takesTensors(set.card());
    }
    return tensors;
  }

  /**
   * Lists the models that this protocol serves, those that are ready first, in order.
   *
   * @param readyOnly leaves out those that have cards but no ready workers
   */
  public List<ListedModel> list(boolean readyOnly) {
    var list = new ArrayList<ListedModel>();
    ListedNames.of(catalog)
        .forEach(
            (name, model) -> {
              if (isServed(model)) {
                list.add(new ListedModel(name, true));
              }
            });
    if (!readyOnly) {
      catalog
          .waiting()
          .forEach(
              (name, types) -> {
                if (types.contains(COMPLETIONS) || types.contains(TENSORS)) {
                  list.add(new ListedModel(name, false));
                }
              });
    }
    return list;
  }

  private static boolean isServed(ServedModel model) {
    return takesTexts(model.card()) || takesTensors(model.card());
  }

  private static boolean takesTexts(ModelCard card) {
    return card.modelTypes().contains(COMPLETIONS);
  }

  private static boolean takesTensors(ModelCard card) {
    return card.takesTensors() && card.modelTypes().contains(TENSORS);
  }
}
