package io.dynamo.model;

import io.dynamo.json.Json;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.commons.codec.digest.Blake3;
import org.jspecify.annotations.Nullable;

/**
 * Computes the checksum of a card that requests carry as {@code mdc_sum}: BLAKE3 in hex over the
 * parts by which Dynamo tells models apart. The layout of its input is this project's own: workers
 * pass the checksum on without reading it, so that it need only be equal for equal cards.
 */
public final class ModelCardSum {
  private ModelCardSum() {}

  public static String of(ModelCard card) {
    Map<String, @Nullable Object> parts = new LinkedHashMap<>();
    parts.put("name", card.displayName());
    parts.put("source", card.sourcePath());
    parts.put("config", checksum(card.config()));
    parts.put("tokenizer", checksum(card.tokenizer()));
    parts.put("tokenizer_config", checksum(card.tokenizerConfig()));
    parts.put("template", checksum(card.chatTemplate()));
    parts.put("generation", checksum(card.generationConfig()));
    parts.put("extra", card.extraFiles().stream().map(ModelFile::checksum).toList());
    parts.put("context", card.contextLength());
    parts.put("block", card.blockTokens());
    parts.put("worker_type", card.workerType());
    parts.put("needs", card.needs());
    parts.put("router", card.routerConfig());
    return HexFormat.of().formatHex(Blake3.hash(Json.write(parts)));
  }

  private static @Nullable String checksum(@Nullable ModelFile file) {
    return file == null ? null : file.checksum();
  }
}
