package io.dynamo.frontend.catalog;

import io.dynamo.frontend.preprocess.ModelText;
import io.dynamo.model.ModelCard;
import java.io.IOException;

/** Builds the text side of a model from the files that its card names. May block on files. */
@FunctionalInterface
public interface TextLoader {
  /**
   * @throws IOException when a file is missing, unreadable or does not match its checksum
   */
  ModelText load(ModelCard card) throws IOException;
}
