package io.dynamo.frontend.postprocess.message;

import java.util.List;

/**
 * Looks for the first of several markers in a text that is still growing. Where one marker begins
 * another, the longest that the text has wins, once it is certain. Holds the last search's result;
 * for one thread.
 */
public final class Markers {
  private final String[] markers;
  private int start;
  private int found = -1;

  public Markers(List<String> markers) {
    this.markers = markers.toArray(String[]::new);
  }

  public Markers(String... markers) {
    this.markers = markers.clone();
  }

  /**
   * Searches from {@code from}.
   *
   * @param last whether no text follows, so that a beginning of a marker is none
   * @return whether a marker was found; {@link #start} is where it begins, or else where the text
   *     ends that belongs to no marker
   */
  public boolean find(CharSequence text, int from, boolean last) {
    int length = text.length();
    for (int i = from; i < length; i++) {
      switch (match(text, i)) {
        case OPEN -> {
          if (!last) {
            start = i;
            found = -1;
            return false;
          }
          if (found >= 0) {
            start = i;
            return true;
          }
        }
        case FOUND -> {
          start = i;
          return true;
        }
        case NONE -> {}
      }
    }
    start = length;
    found = -1;
    return false;
  }

  /** Whether the text goes on with a marker exactly at {@code at}; then it is the one found. */
  public boolean at(CharSequence text, int at, boolean last) {
    start = at;
    if (at < text.length() && (match(text, at) != Match.OPEN || last) && found >= 0) {
      return true;
    }
    found = -1;
    return false;
  }

  private enum Match {
    NONE,
    OPEN,
    FOUND
  }

  /** Finds the longest marker at {@code at}; open when a longer one may still follow. */
  private Match match(CharSequence text, int at) {
    found = -1;
    boolean open = false;
    char first = text.charAt(at);
    for (int m = 0; m < markers.length; m++) {
      var marker = markers[m];
      if (marker.charAt(0) != first) {
        continue;
      }
      int same = same(text, at, marker);
      if (same == marker.length()) {
        found = found < 0 || same > markers[found].length() ? m : found;
      } else {
        open |= at + same == text.length();
      }
    }
    return open ? Match.OPEN : found >= 0 ? Match.FOUND : Match.NONE;
  }

  /** Whether the text may go on with a marker at {@code at} but has not enough characters yet. */
  public boolean mayBeAt(CharSequence text, int at) {
    for (var marker : markers) {
      int same = same(text, at, marker);
      if (same < marker.length() && at + same == text.length()) {
        return true;
      }
    }
    return false;
  }

  public int start() {
    return start;
  }

  /** The index of the marker that the last search found. */
  public int which() {
    return found;
  }

  /** The end of the marker that the last search found. */
  public int end() {
    return start + markers[found].length();
  }

  private static int same(CharSequence text, int at, String marker) {
    int most = Math.min(marker.length(), text.length() - at);
    int same = 0;
    while (same < most && text.charAt(at + same) == marker.charAt(same)) {
      same++;
    }
    return same;
  }
}
