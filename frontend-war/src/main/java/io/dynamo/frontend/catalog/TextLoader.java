package io.dynamo.frontend.catalog;

import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.io.IOException;

/** Makes the text side of a model from what its card names. May block on files. */
@FunctionalInterface
public interface TextLoader {
  /**
   * @throws IOException when a file is missing, unreadable or not what its checksum says
   */
  ModelText load(ModelCard card) throws IOException;
}
