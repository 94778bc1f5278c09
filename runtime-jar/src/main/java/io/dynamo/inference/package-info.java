/**
 * The request of a generation ({@link io.dynamo.inference.GenerateRequest}) and the items that a
 * worker streams back ({@link io.dynamo.inference.EngineOutput}).
 */
@NullMarked
package io.dynamo.inference;

import org.jspecify.annotations.NullMarked;
