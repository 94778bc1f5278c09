package io.dynamo.frontend.catalog;

import io.dynamo.model.ModelCard;
import io.dynamo.model.ModelFile;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The checksums of the files that a text is built from: cards that agree on them share one text.
 */
record TextFiles(
    @Nullable String tokenizer,
    @Nullable String tokenizerConfig,
    @Nullable String template,
    @Nullable String config,
    @Nullable String generationConfig,
    List<String> extra) {
  static TextFiles of(ModelCard card) {
    return new TextFiles(
        checksum(card.tokenizer()),
        checksum(card.tokenizerConfig()),
        checksum(card.chatTemplate()),
        checksum(card.config()),
        checksum(card.generationConfig()),
        card.extraFiles().stream().map(ModelFile::checksum).toList());
  }

  private static @Nullable String checksum(@Nullable ModelFile file) {
    return file == null ? null : file.checksum();
  }
}
