@NullMarked
package io.dynamo.frontend.postprocess.reasoning;

import org.jspecify.annotations.NullMarked;
