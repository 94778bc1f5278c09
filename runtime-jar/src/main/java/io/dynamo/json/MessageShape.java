package io.dynamo.json;

import java.util.Set;

/**
 * The members of a format's messages that nobody reads: they are checked to be JSON, and left out.
 *
 * @param opened members whose objects, or lists of objects, have members to leave out, too; those
 *     of all others are kept whole
 * @param skipped names of members to leave out, of the message and of what is opened
 */
public record MessageShape(Set<String> opened, Set<String> skipped) {
  /** Keeps everything. */
  static final MessageShape WHOLE = new MessageShape(Set.of(), Set.of());

  public MessageShape {
    opened = Set.copyOf(opened);
    skipped = Set.copyOf(skipped);
  }
}
