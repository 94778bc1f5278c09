/**
 * SGLang's own server as an engine, driven by token ids. Start at {@link
 * io.dynamo.worker.engine.sglang.SglangDialect}.
 */
@NullMarked
package io.dynamo.worker.engine.sglang;

import org.jspecify.annotations.NullMarked;
