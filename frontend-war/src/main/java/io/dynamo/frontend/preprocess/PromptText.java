package io.dynamo.frontend.preprocess;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The text of a prompt, and how it is encoded: as one text whose special tokens count wherever they
 * stand, as that of a template; or part by part, each on its own, where only the parts that the
 * format marks as control tokens are special tokens, and all others are ordinary text. Immutable.
 */
public final class PromptText {
  private final String text;
  private final int @Nullable [] ends; // of parts: twice the end, plus 1 for a control token

  private final int contentEnd;

  private PromptText(String text, int @Nullable [] ends, int contentEnd) {
    this.text = text;
    this.ends = ends;
    this.contentEnd = contentEnd;
  }

  /** A text that is encoded as one; special tokens in it count as such. */
  public static PromptText whole(String text) {
    return new PromptText(text, null, -1);
  }

  /** The whole text. */
  public String text() {
    return text;
  }

  /** Whether it is encoded as one. It has no parts then. */
  boolean isWhole() {
    return ends == null;
  }

  int parts() {
    return ends == null ? 0 : ends.length;
  }

  /** Whether the part at {@code index} is a control token, not ordinary text. */
  boolean isControl(int index) {
    return ends != null && (ends[index] & 1) == 1;
  }

  /** The characters (UTF-16) of the part at {@code index}. */
  int length(int index) {
    return end(index) - start(index);
  }

  String part(int index) {
    return text.substring(start(index), end(index));
  }

  private int start(int index) {
    return index == 0 ? 0 : end(index - 1);
  }

  private int end(int index) {
    return ends == null ? text.length() : ends[index] >>> 1;
  }

  /**
   * Where the content of the final message ends, as the format says; -1 where it does not, as that
   * of a template.
   */
  public int contentEnd() {
    return contentEnd;
  }

  /** The text before {@code end}, which should not lie in a control token. */
  public PromptText first(int end) {
    if (ends == null || end == text.length()) {
      return ends == null ? whole(text.substring(0, end)) : this;
    }
    int parts = 0;
    while (parts < ends.length && start(parts) < end) {
      parts++;
    }
    var kept = Arrays.copyOf(ends, parts);
    if (parts > 0) {
      boolean isControl = isControl(parts - 1) && end(parts - 1) <= end;
      kept[parts - 1] = Math.min(end(parts - 1), end) << 1 | (isControl ? 1 : 0);
    }
    return new PromptText(text.substring(0, end), kept, -1);
  }

  /** The same without NUL characters. */
  public PromptText withoutNul() {
    if (text.indexOf('\0') < 0) {
      return this;
    }
    if (ends == null) {
      return whole(text.replace("\0", ""));
    }
    var changed = new Builder();
    for (int i = 0; i < ends.length; i++) {
      changed.add(part(i).replace("\0", ""), isControl(i));
    }
    return changed.build();
  }

  /** Collects the parts of a prompt. For one thread. */
  static final class Builder {
    private final StringBuilder text = new StringBuilder();
    private int[] ends = new int[64];
    private int parts;
    private int contentEnd = -1;

    /** Marks the end of a message's content, here; that of the last message counts. */
    void endContent() {
      contentEnd = text.length();
    }

    void addControl(String token) {
      add(token, true);
    }

    void addText(String ordinary) {
      add(ordinary, false);
    }

    private void add(String part, boolean isControl) {
      if (part.isEmpty()) {
        return;
      }
      text.append(part);
      if (parts == ends.length) {
        ends = Arrays.copyOf(ends, 2 * parts);
      }
      ends[parts++] = text.length() << 1 | (isControl ? 1 : 0);
    }

    /** The characters so far. */
    int length() {
      return text.length();
    }

    PromptText build() {
      return new PromptText(text.toString(), Arrays.copyOf(ends, parts), contentEnd);
    }
  }
}
