package io.dynamo.frontend.postprocess;

import io.dynamo.model.vocabulary.TokenTable;
import java.nio.charset.StandardCharsets;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A vocabulary that treats some special tokens as text. Immutable. */
final class MarkerTokens implements TokenTable {
  private final TokenTable table;
  private final Set<String> markers;

  /**
   * @param markers the texts of these tokens
   */
  MarkerTokens(TokenTable table, List<String> markers) {
    this.table = table;
    this.markers = new HashSet<>(markers);
  }

  @Override
  public int size() {
    return table.size();
  }

  @Override
  public byte[] bytes(int id) {
    return table.bytes(id);
  }

  @Override
  public boolean isSpecial(int id) {
    return table.isSpecial(id)
        && !markers.contains(new String(table.bytes(id), StandardCharsets.UTF_8));
  }
}
