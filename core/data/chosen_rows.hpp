// Some rows of a dense X, float64 or float32, where they lie: a stretch of some columns at a time
// is brought into panels, of which everything is made as in panel_columns.hpp, to the same bits. It
// takes no room, and is as quick where X lies row by row and is large: then the rows have to come
// from memory, copied or not. Where X lies row by row, the products with a few vectors are summed
// along the rows, which need not be brought in.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "data/columns.hpp"

namespace ellzero {

template <class T>
class ChosenRows final : public Columns {
 public:
  // Row r is row which[r] of x, which is kept by the caller for as long as this lives.
  ChosenRows(const Strided<T>& x, std::vector<Index> which, Index columns)
      : Columns(static_cast<Index>(which.size()), columns), x_(x), which_(std::move(which)) {}

  double entries() const override {
    return static_cast<double>(rows_) * static_cast<double>(columns_);
  }

  void read(Index j, Index row, Index rows, double* out) const override {
    for (Index r = 0; r < rows; ++r) out[r] = static_cast<double>(*x_.at(which_[row + r], j));
  }

  void read_rows(Index j, const Index* which, Index count, double* out) const override {
    for (Index r = 0; r < count; ++r) out[r] = static_cast<double>(*x_.at(which_[which[r]], j));
  }

  void read_several(Index first, Index count, Index row, Index rows, double* out) const override {
    for (Index r = 0; r < rows; ++r) {
      const T* source = x_.at(which_[row + r], first);
      for (Index c = 0; c < count; ++c) {
        out[c * rows + r] = static_cast<double>(source[c * x_.column_stride]);
      }
    }
  }

  void subtract_squares(const Standardisation& standardisation, const double* root, const double* y,
                        Index first, Index count, double* squares, double* along,
                        double* sums) const override {
    if (x_.column_stride != 1) {
      Columns::subtract_squares(standardisation, root, y, first, count, squares, along, sums);
      return;
    }
    std::vector<const T*> rows(rows_);
    for (Index r = 0; r < rows_; ++r) rows[r] = x_.at(which_[r], first);
    subtract_rows(rows.data(), rows_, count, standardisation.mean + first,
                  standardisation.inverse_scale + first, root, y, squares, along, sums);
  }

  void products(const Standardisation& standardisation, const Operand& v, double* const* out,
                const Context& context) const override {
    const Index width = v.width();
    const std::vector<double> weighted = weighted_rows(standardisation, v);
    if (x_.column_stride == 1 && width <= kRowProducts) {
      return products_along(standardisation, weighted, width, out, context);
    }
    const auto work = [&](Index begin, Index end, auto poll) {
      std::vector<T> room(kPanels * kTileRows * kPanelColumns);
      std::vector<double> total(kPanels * width * kPanelColumns);
      double sums[kPanelProducts * kPanelColumns], mean[kPanelColumns];
      for (Index first = begin; first < end; first += kPanels) {
        const Index panels = std::min(kPanels, end - first);
        for (Index row = 0; row < rows_; row += kTileRows) {
          if (poll()) return;
          const Index rows = std::min(kTileRows, rows_ - row);
          pack(first, panels, row, rows, room.data());
          for (Index k = 0; k < panels; ++k) {
            for (Index c = 0; c < kPanelColumns; ++c) {
              const Index j = (first + k) * kPanelColumns + c;
              mean[c] = j < columns_ ? standardisation.mean[j] : 0;
            }
            for (Index b = 0; b < width; b += kPanelProducts) {
              const Index count = std::min(kPanelProducts, width - b);
              double* target = total.data() + (k * width + b) * kPanelColumns;
              multiply_panel(room.data() + k * rows * kPanelColumns, rows, mean,
                             weighted.data() + rows_ * b + row * count, count,
                             row == 0 ? target : sums);
              if (row == 0) continue;
              for (Index i = 0; i < count * kPanelColumns; ++i) target[i] += sums[i];
            }
          }
        }
        for (Index b = 0; b < width; ++b) {
          for (Index k = 0; k < panels; ++k) {
            const Index start = (first + k) * kPanelColumns;
            const double* sum = total.data() + (k * width + b) * kPanelColumns;
            for (Index c = 0; c < panel_width(first + k); ++c) {
              out[b][start + c] = sum[c] * standardisation.inverse_scale[start + c];
            }
          }
        }
      }
    };
    parallel_ranges(panels(), worth_sharing(width, context), work);
  }

  void take_moments(const Response& response, const TakeMoments& take,
                    const Context& context) const override {
    std::vector<T> room(kPanels * kTileRows * kPanelColumns);
    Moments part[kPanelColumns];
    for (Index first = 0; first < panels(); first += kPanels) {
      const Index panels = std::min(kPanels, this->panels() - first);
      std::vector<Moments> total(panels * kPanelColumns);
      Index row = 0;
      for (const Stretch& over : response.stretches()) {
        context.check();
        pack(first, panels, row, over.rows, room.data());
        for (Index k = 0; k < panels; ++k) {
          panel_moments(room.data() + k * over.rows * kPanelColumns, over, part);
          for (Index c = 0; c < kPanelColumns; ++c) total[k * kPanelColumns + c].merge(part[c]);
        }
        row += over.rows;
      }
      const Index start = first * kPanelColumns;
      for (Index j = start; j < std::min(columns_, start + panels * kPanelColumns); ++j) {
        take(j, safe_moments(j, total[j - start], response));
      }
    }
  }

 private:
  static constexpr Index kPanels = 32;  // brought in at a time: half a megabyte of float64

  Index panels() const { return (columns_ + kPanelColumns - 1) / kPanelColumns; }
  Index panel_width(Index panel) const {
    return std::min(kPanelColumns, columns_ - panel * kPanelColumns);
  }

  // The products with a few vectors, a stretch of columns at a time.
  void products_along(const Standardisation& standardisation, const std::vector<double>& weighted,
                      Index width, double* const* out, const Context& context) const {
    constexpr Index kColumns = 512, kRows = 8;
    const auto work = [&](Index begin, Index end, auto poll) {
      const T* rows[kRows];
      std::vector<double> total(width * kColumns);
      double* sums[kRowProducts];
      for (Index stretch = begin; stretch < end; ++stretch) {
        if (poll()) return;
        const Index first = stretch * kColumns, count = std::min(kColumns, columns_ - first);
        for (Index tile = 0; tile < rows_; tile += kTileRows) {
          const Index tile_end = std::min(rows_, tile + kTileRows);
          for (Index b = 0; b < width; ++b) {
            sums[b] = tile == 0 ? out[b] + first : total.data() + b * kColumns;
            std::fill_n(sums[b], count, 0.0);
          }
          for (Index row = tile; row < tile_end; row += kRows) {
            const Index some = std::min(kRows, tile_end - row);
            for (Index r = 0; r < some; ++r) rows[r] = x_.at(which_[row + r], first);
            multiply_rows(rows, some, count, standardisation.mean + first,
                          weighted.data() + row * width, width, sums);
          }
          if (tile == 0) continue;
          for (Index b = 0; b < width; ++b) {
            for (Index j = 0; j < count; ++j) out[b][first + j] += sums[b][j];
          }
        }
        for (Index b = 0; b < width; ++b) {
          for (Index j = first; j < first + count; ++j) {
            out[b][j] *= standardisation.inverse_scale[j];
          }
        }
      }
    };
    parallel_ranges((columns_ + kColumns - 1) / kColumns, worth_sharing(width, context), work);
  }

  // The vectors of v times the roots of the weights, kPanelProducts of them side by side.
  std::vector<double> weighted_rows(const Standardisation& standardisation,
                                    const Operand& v) const {
    std::vector<double> out(rows_ * v.width()), part(std::min(rows_, kTileRows));
    for (Index b = 0; b < v.width(); ++b) {
      const Index group = b - b % kPanelProducts;
      const Index count = std::min(kPanelProducts, v.width() - group);
      double* target = out.data() + rows_ * group + (b - group);
      for (Index row = 0; row < rows_; row += kTileRows) {
        const Index rows = std::min(kTileRows, rows_ - row);
        const double* root_weight = standardisation.root_weight_at(row);
        v.read(b, row, rows, part.data());
        for (Index r = 0; r < rows; ++r) {
          target[(row + r) * count] = part[r] * (root_weight ? root_weight[r] : 1.0);
        }
      }
    }
    return out;
  }

  // Some rows of some panels, panel by panel; zeros fill the last.
  void pack(Index first, Index panels, Index row, Index rows, T* out) const {
    for (Index r = 0; r < rows; ++r) {
      const T* source = x_.at(which_[row + r], first * kPanelColumns);
      for (Index k = 0; k < panels; ++k) {
        T* target = out + (k * rows + r) * kPanelColumns;
        const Index width = panel_width(first + k);
        if (x_.column_stride == 1 && width == kPanelColumns) {
          std::copy_n(source + k * kPanelColumns, kPanelColumns, target);
          continue;
        }
        for (Index c = 0; c < width; ++c) {
          target[c] = source[(k * kPanelColumns + c) * x_.column_stride];
        }
        for (Index c = width; c < kPanelColumns; ++c) target[c] = 0;
      }
    }
  }

  const Strided<T> x_;
  const std::vector<Index> which_;
};

}  // namespace ellzero
