@NullMarked
package io.dynamo.frontend.postprocess.tools;

import org.jspecify.annotations.NullMarked;
