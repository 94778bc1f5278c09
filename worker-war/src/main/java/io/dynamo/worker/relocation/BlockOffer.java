package io.dynamo.worker.relocation;

import io.dynamo.error.InvalidRequestException;
import io.dynamo.json.JsonObject;
import io.dynamo.worker.engine.KvBlocks;
import io.dynamo.worker.engine.KvLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An offer of KV blocks, from a worker that has them to one that may continue their generation. The
 * arrays never change.
 *
 * @param tokens the tokens that the blocks cover
 * @param checksums the CRC-32C of each block, first to last
 */
record BlockOffer(KvLayout layout, int[] tokens, int[] checksums) {
  static final String OFFER = "offer";
  static final String COMMIT = "commit";
  static final String ABORT = "abort";
  static final String OPERATION = "op";
  static final String LEASE = "lease";
  static final String BLOCKS = "blocks";

  static BlockOffer of(KvBlocks blocks) {
    int covered = blocks.count() * blocks.layout().blockTokens();
    return new BlockOffer(
        blocks.layout(), Arrays.copyOf(blocks.tokens(), covered), blocks.checksums());
  }

  /** Returns a message about an offer that was accepted. */
  static Map<String, @Nullable Object> message(String operation, long lease) {
    return JsonObject.ordered(OPERATION, operation, LEASE, lease);
  }

  Map<String, @Nullable Object> toMembers() {
    return JsonObject.ordered(
        OPERATION,
        OFFER,
        "layout",
        layout.name(),
        "weights",
        layout.weights(),
        "block_tokens",
        layout.blockTokens(),
        "block_bytes",
        layout.blockBytes(),
        "tokens",
        Arrays.stream(tokens).boxed().toList(),
        "checksums",
        Arrays.stream(checksums).boxed().toList());
  }

  /**
   * Reads an offer.
   *
   * @throws InvalidRequestException naming the member that is missing or wrong
   */
  static BlockOffer of(JsonObject message) {
    try {
      return new BlockOffer(
          new KvLayout(
              message.text("layout"),
              message.text("weights"),
              message.count("block_tokens"),
              message.unsigned("block_bytes")),
          numbers(message.list("tokens")),
          numbers(message.list("checksums")));
    } catch (IllegalArgumentException wrong) {
      throw new InvalidRequestException("an offer of KV blocks: " + wrong.getMessage());
    }
  }

  private static int[] numbers(List<@Nullable Object> list) {
    var numbers = new int[list.size()];
    for (int i = 0; i < numbers.length; i++) {
      if (!(list.get(i) instanceof Number number)) {
        throw new IllegalArgumentException("a list has something that is no number");
      }
      numbers[i] = number.intValue();
    }
    return numbers;
  }

  int count() {
    return checksums.length;
  }
}
