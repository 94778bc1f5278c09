@NullMarked
package io.dynamo.worker.engine.openai;

import org.jspecify.annotations.NullMarked;
