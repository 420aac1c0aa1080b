#include "partitioner/model/readers/model_reader.h"
#include "partitioner/model/readers/torchscript_reader.h"

namespace pareto::model {

const ModelReaders& builtin_readers() {
  static const ModelReaders kAll{
      torchscript_reader(),
  };
  return kAll;
}

}  // namespace pareto::model
