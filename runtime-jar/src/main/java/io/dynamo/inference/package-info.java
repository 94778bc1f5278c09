/**
 * What a worker is asked ({@link io.dynamo.inference.GenerateRequest}) and streams back ({@link
 * io.dynamo.inference.EngineOutput}).
 */
@NullMarked
package io.dynamo.inference;

import org.jspecify.annotations.NullMarked;
