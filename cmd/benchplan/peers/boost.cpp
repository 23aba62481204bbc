// Reduces the graph of a file with Boost and prints the best time of three, in seconds, and
// the edges left.
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iostream>
#include <limits>
#include <vector>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/transitive_reduction.hpp>

using Graph = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

int main(int argc, char** argv) {
    if (argc != 2) {
        std::cerr << "usage: boost FILE\n";
        return 2;
    }
    std::ifstream in(argv[1]);
    std::size_t nodes = 0, edges = 0;
    in >> nodes >> edges;
    Graph graph(nodes);
    for (std::size_t i = 0, from, to; i < edges && in >> from >> to; i++) {
        add_edge(from, to, graph);
    }
    if (!in || num_edges(graph) != edges) {
        std::cerr << "boost: " << argv[1] << " is not a graph\n";
        return 1;
    }
    Graph reduced;
    double best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 3; round++) {
        reduced = Graph();
        const auto start = std::chrono::steady_clock::now();
        std::vector<Graph::vertex_descriptor> image(nodes);
        transitive_reduction(graph, reduced, image.data(), get(boost::vertex_index, graph));
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
        std::vector<std::size_t> original(nodes);
        for (std::size_t v = 0; v < nodes; v++) {
            original[image[v]] = v;
        }
        if (round == 2) {
            std::cout << best << '\n';
            for (auto [e, end] = boost::edges(reduced); e != end; ++e) {
                std::cout << original[source(*e, reduced)] << ' ' << original[target(*e, reduced)] << '\n';
            }
        }
    }
}
