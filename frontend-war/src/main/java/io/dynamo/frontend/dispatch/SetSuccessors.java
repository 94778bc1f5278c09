package io.dynamo.frontend.dispatch;

import io.dynamo.frontend.catalog.ServedModel;
import java.util.List;

/** Provides the sets of workers that generations can migrate to. Safe for concurrent use. */
@FunctionalInterface
public interface SetSuccessors {
  /** Returns other sets whose workers can continue generations of {@code lost}, best first. */
  List<ServedModel> of(ServedModel lost);
}
