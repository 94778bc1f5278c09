package io.dynamo.frontend.postprocess;

import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopReason;
import org.jspecify.annotations.Nullable;

/**
 * The text that one item adds, and the reason when it ends the text.
 *
 * @param text new text, whole characters; may be empty while a character or a possible stop string
 *     is held back
 * @param tokens tokens counted, those of a matched stop included
 * @param finish the reason why the text ends here, null while it goes on
 * @param stop the stop string or stop id of the client's that matched, when one did
 */
public record TextDelta(
    String text, int tokens, @Nullable FinishReason finish, @Nullable StopReason stop) {}
