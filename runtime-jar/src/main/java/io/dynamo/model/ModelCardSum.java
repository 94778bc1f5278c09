package io.dynamo.model;

import io.dynamo.json.Json;
import io.dynamo.json.JsonObject;
import java.util.HexFormat;
import org.apache.commons.codec.digest.Blake3;
import org.jspecify.annotations.Nullable;

/**
 * The checksum of a card that requests carry as {@code mdc_sum}: BLAKE3 in hex over what makes two
 * cards one model for Dynamo. Its layout is this project's own: workers hand it on and read nothing
 * from it, so that it need only be equal where the cards are.
 */
public final class ModelCardSum {
  private ModelCardSum() {}

  public static String of(ModelCard card) {
    var parts =
        JsonObject.ordered(
            "name", card.displayName(),
            "source", card.sourcePath(),
            "config", checksum(card.config()),
            "tokenizer", checksum(card.tokenizer()),
            "tokenizer_config", checksum(card.tokenizerConfig()),
            "template", checksum(card.chatTemplate()),
            "generation", checksum(card.generationConfig()),
            "extra", card.extraFiles().stream().map(ModelFile::checksum).toList(),
            "context", card.contextLength(),
            "block", card.blockTokens(),
            "worker_type", card.workerType(),
            "needs", card.needs());
    return HexFormat.of().formatHex(Blake3.hash(Json.write(parts)));
  }

  private static @Nullable String checksum(@Nullable ModelFile file) {
    return file == null ? null : file.checksum();
  }
}
