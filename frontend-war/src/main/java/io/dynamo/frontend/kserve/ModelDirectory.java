package io.dynamo.frontend.kserve;

import io.dynamo.frontend.catalog.ListedNames;
import io.dynamo.frontend.catalog.ModelCatalog;
import io.dynamo.frontend.catalog.ServedModel;
import java.util.ArrayList;
import java.util.List;

/** Answers what KServe's clients ask about models. Safe for concurrent use; never blocks. */
public final class ModelDirectory {
  private static final String COMPLETIONS = "Completions";

  private final ModelCatalog catalog;

  public ModelDirectory(ModelCatalog catalog) {
    this.catalog = catalog;
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
   * @throws io.dynamo.frontend.ApiException with 404 when there is none, or none that this protocol
   *     serves
   */
  public ModelDescription describe(NamedModel named) {
    var model =
        catalog
            .find(named.require().name())
            .filter(ModelDirectory::isServed)
            .orElseThrow(named::notFound);
    return ModelDescription.ofTexts(model.name());
  }

  /** The names of the models that are ready and that this protocol serves, in order. */
  public List<String> names() {
    var names = new ArrayList<String>();
    ListedNames.of(catalog)
        .forEach(
            (name, model) -> {
              if (isServed(model)) {
                names.add(name);
              }
            });
    return names;
  }

  private static boolean isServed(ServedModel model) {
    return model.card().modelTypes().contains(COMPLETIONS);
  }
}
