package io.dynamo.frontend.dispatch;

import io.dynamo.frontend.catalog.ServedModel;
import java.util.List;

/** Names the sets of workers that generations can move to. Safe for concurrent use. */
@FunctionalInterface
public interface SetSuccessors {
  /** Other sets whose workers can carry on generations of {@code lost}, best first. */
  List<ServedModel> of(ServedModel lost);
}
