package io.dynamo.frontend.openai;

import io.dynamo.frontend.postprocess.message.Piece;
import io.dynamo.inference.EngineOutput;
import io.dynamo.inference.FinishReason;
import io.dynamo.inference.StopReason;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The text, tokens and finish reason that one item of a worker adds to one choice.
 *
 * @param choice the index that the client sees
 * @param text new text, may be empty
 * @param tokens the number of the item's tokens up to the end of the text
 * @param finish the reason why the text ends here, null while it goes on
 * @param stop the client's stop string or id that ended the text
 * @param pieces the parts of the message, when it is parsed; null when the text is the message
 * @param called whether that message has a tool call so far
 * @param item the worker's item; null for text that was held back
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
