/**
 * Any server with OpenAI's completions API as an engine, by text. Start at {@link
 * io.dynamo.worker.engine.openai.OpenAiDialect}; how token ids become text and back is in {@link
 * io.dynamo.worker.engine.openai.TextVocabulary}.
 */
@NullMarked
package io.dynamo.worker.engine.openai;

import org.jspecify.annotations.NullMarked;
