// Columns of products in a file, so that a search that was killed need not make them again: its
// bits are those of a search that was not. A file is a header and one record after the other, each
// with a sum of its own; what was cut off in the midst of being written is written over.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/kernels.hpp"

namespace ellzero {

// A running sum of numbers, bit by bit: those of other data have another one.
class DataMark {
 public:
  void add(std::uint64_t bits) {
    value_ = (value_ ^ bits) * 0x9E3779B97F4A7C15u;
    value_ ^= value_ >> 29;
  }
  void add(const double* values, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      std::uint64_t bits;
      std::memcpy(&bits, values + i, sizeof bits);
      add(bits);
    }
  }
  std::uint64_t value() const { return value_; }

 private:
  std::uint64_t value_ = 0x243F6A8885A308D3u;
};

// Why a file can't be used.
struct ColumnFileError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class ColumnFile {
 public:
  // For columns of that many entries, of the data that the mark is of.
  ColumnFile(const std::string& path, Index length, std::uint64_t mark) : length_(length) {
    file_.reset(std::fopen(path.c_str(), "r+b"));
    if (!file_) file_.reset(std::fopen(path.c_str(), "w+b"));
    if (!file_) throw ColumnFileError("can't be opened");
    const Header own{kFormat, static_cast<std::uint64_t>(length), mark};
    Header found;
    const std::size_t read = std::fread(&found, 1, sizeof found, file_.get());
    if (read > 0 && std::memcmp(&found.format, &own.format, std::min<std::size_t>(read, 8)) != 0) {
      throw ColumnFileError("is no file of columns");
    }
    if (read == sizeof found) {
      if (found.length != own.length || found.mark != own.mark) {
        throw ColumnFileError("is of other data, weights or folds");
      }
      find_records();
      return;
    }
    seek(0);
    write(&own, sizeof own);
    flush();
    end_ = sizeof own;
  }

  // out = column j; false if it is not here.
  bool load(Index j, double* out) {
    const std::lock_guard<std::mutex> guard(lock_);
    const auto found = places_.find(j);
    if (found == places_.end()) return false;
    seek(found->second);
    Record record;
    const bool whole = std::fread(&record, sizeof record, 1, file_.get()) == 1 &&
                       std::fread(out, sizeof(double), length_, file_.get()) ==
                           static_cast<std::size_t>(length_) &&
                       record.sum == sum_of(j, out);
    if (!whole) places_.erase(found);
    return whole;
  }

  void save(const std::vector<Index>& which, const std::vector<double*>& columns) {
    const std::lock_guard<std::mutex> guard(lock_);
    for (std::size_t i = 0; i < which.size(); ++i) {
      seek(end_);
      const Record record{which[i], sum_of(which[i], columns[i])};
      write(&record, sizeof record);
      write(columns[i], sizeof(double) * length_);
      places_[which[i]] = end_;
      end_ += record_size();
    }
    flush();
  }

 private:
  static constexpr std::uint64_t kFormat = 0x316C6F633030316C;
  struct Header {
    std::uint64_t format, length, mark;
  };
  struct Record {
    std::int64_t column;
    std::uint64_t sum;
  };
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  std::int64_t record_size() const {
    return static_cast<std::int64_t>(sizeof(Record) + sizeof(double) * length_);
  }

  std::uint64_t sum_of(Index j, const double* column) const {
    DataMark mark;
    mark.add(static_cast<std::uint64_t>(j));
    mark.add(column, length_);
    return mark.value();
  }

  // Where whole records are; whether their numbers are is seen when they are read.
  void find_records() {
    if (std::fseek(file_.get(), 0, SEEK_END) != 0) throw ColumnFileError("can't be read");
    const std::int64_t size = std::ftell(file_.get());
    end_ = sizeof(Header);
    for (; end_ + record_size() <= size; end_ += record_size()) {
      seek(end_);
      Record record;
      if (std::fread(&record, sizeof record, 1, file_.get()) != 1) break;
      places_[record.column] = end_;
    }
  }

  void seek(std::int64_t place) {
    if (std::fseek(file_.get(), static_cast<long>(place), SEEK_SET) != 0) {
      throw ColumnFileError("can't be read");
    }
  }
  void write(const void* bytes, std::size_t count) {
    if (std::fwrite(bytes, 1, count, file_.get()) != count) {
      throw ColumnFileError("can't be written: is the disk full?");
    }
  }
  void flush() {
    if (std::fflush(file_.get()) != 0) {
      throw ColumnFileError("can't be written: is the disk full?");
    }
  }

  const Index length_;
  std::unique_ptr<std::FILE, Close> file_;
  std::mutex lock_;
  std::unordered_map<Index, std::int64_t> places_;
  std::int64_t end_ = 0;
};

// Fills out[i] with column which[i]: from the file, if there is one and it has it, else by
// make(missing, places), after which it is there too. True if any had to be made.
template <class Make>
bool load_or_make(ColumnFile* file, const Index* which, Index count, double* const* out,
                  Make&& make) {
  std::vector<Index> missing;
  std::vector<double*> places;
  for (Index i = 0; i < count; ++i) {
    if (file && file->load(which[i], out[i])) continue;
    missing.push_back(which[i]);
    places.push_back(out[i]);
  }
  if (missing.empty()) return false;
  make(missing, places);
  if (file) file->save(missing, places);
  return true;
}

}  // namespace ellzero
