package io.dynamo.frontend.openai;

import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopReason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one item of a worker adds to one choice.
 *
 * @param choice the index that the client sees
 * @param text new text, may be empty
 * @param tokens how many of the item's tokens count; the rest came after the end
 * @param finish why the text ends here, null while it goes on
 * @param stop which of the client's stops ended it
 * @param pieces what the text adds to a message that is taken apart; null when the text is the
 *     message
 * @param called whether that message has a tool call so far
 * @param item what the worker sent; null for text that was held back
 */
record ChoiceDelta(
    int choice,
    String text,
    int tokens,
    @Nullable FinishReason finish,
    @Nullable StopReason stop,
    @Nullable List<Piece> pieces,
    boolean called,
    @Nullable EngineOutput item) {}
