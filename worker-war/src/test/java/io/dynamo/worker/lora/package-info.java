@NullMarked
package io.dynamo.worker.lora;

import org.jspecify.annotations.NullMarked;
