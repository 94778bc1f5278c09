package io.dynamo.frontend.media;

import org.jspecify.annotations.Nullable;

/**
 * One medium of a conversation.
 *
 * @param url of {@code http}, {@code https} or {@code data}; null when the client gave an
 *     identifier alone
 * @param uuid the client's identifier, under which an engine may know it
 * @param path of its URL in the request, for messages
 */
public record MediaPart(MediaKind kind, @Nullable String url, @Nullable String uuid, String path) {
  /** Whether the medium itself is in the URL. */
  boolean isInline() {
    return url != null && DataUrl.is(url);
  }
}
