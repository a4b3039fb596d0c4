/* Scenes of slender rods with a motor and a weight. */
#ifndef BOUGH_BENCH_ROD_SCENES_H
#define BOUGH_BENCH_ROD_SCENES_H

/* Rods as in examples/one-rod and examples/two-rods. */
#define ROD(length, half, side, cells, density, r)                                                               \
    "{\"mesh\": {\"generate\": \"box\", \"type\": \"tet10\", \"origin\": [0, -" half "e-3, -" half               \
    "e-3], \"size\": [" length ", " side "e-3, " side "e-3], \"cells\": [" cells                                 \
    ", 1, 1]}, \"material\": {\"model\": \"stvk\", \"young\": 2e11, \"poisson\": 0.3, \"density\": " density     \
    "}, \"damping\": {\"mass\": 0.05, \"stiffness\": 0.0002}, \"interfaces\": {\"base\": {\"select\": \"x0\"}, " \
    "\"tip\": "                                                                                                  \
    "{\"select\": \"x1\"}}, \"basis\": {\"r\": " r ", \"kind\": \"mass-loaded+derivatives\"}}"
#define TURN "\"gravity\": [0, 0, -9.81], \"settle\": true, \"time\": {\"dt\": 0.0005, \"duration\": 2.5}}"

static const char one_rod_scene[] = "{\"bough\": 1, \"components\": {\"rod\": " ROD(
    "0.7", "1.752", "3.504", "20", "8033",
    "11") "}, \"bodies\": ["
          "{\"name\": \"hub\", \"mass\": 0.05, \"shape\": {\"sphere\": 0.02}}, "
          "{\"name\": \"weight\", \"position\": [0, 0, 0.7], "
          "\"mass\": 0.1, \"shape\": {\"sphere\": 0.015}}], \"parts\": [{\"name\": "
          "\"rod\", \"component\": \"rod\", \"clamp\": "
          "{\"body\": \"hub\", \"rotate_deg\": [0, -90, 0]}}], \"joints\": [{\"name\": "
          "\"shoulder\", \"kind\": \"hinge\", "
          "\"parent\": \"world\", \"child\": \"hub\", \"position\": [0, 0, 0], \"axis\": [0, 1, 0]}, {\"name\": "
          "\"grip\", \"kind\": \"weld\", \"parent\": "
          "{\"part\": \"rod\", \"interface\": \"tip\"}, \"child\": \"weight\"}], "
          "\"curves\": {\"turn\": [[0.2, 0], [0.5, 30], "
          "[1.5, 30], [1.8, 0]]}, \"motors\": [{\"joint\": \"shoulder\", \"curve\": "
          "\"turn\", \"degrees\": true, \"between\": "
          "\"stops\"}], " TURN;
static const char two_rods_scene[] = "{\"bough\": 1, \"components\": {\"rod\": " ROD(
    "0.3", "1.752", "3.504", "12", "8033",
    "10") "}, \"bodies\": ["
          "{\"name\": \"motor\", \"position\": [0, 0, 0.3], \"mass\": 0.12, \"shape\": "
          "{\"sphere\": 0.02}}, {\"name\": \"horn\", "
          "\"position\": [0, 0, 0.3], \"mass\": 0.02, \"shape\": {\"sphere\": 0.01}}, "
          "{\"name\": \"weight\", \"position\": [0, 0, "
          "0.6], \"mass\": 0.2, \"shape\": {\"sphere\": 0.018}}], \"parts\": [{\"name\": "
          "\"lower\", \"component\": \"rod\", "
          "\"clamp\": {\"rotate_deg\": [0, -90, 0]}}, {\"name\": \"upper\", "
          "\"component\": \"rod\", \"clamp\": {\"body\": \"horn\", "
          "\"rotate_deg\": [0, -90, 0]}}], \"joints\": [{\"name\": \"mount\", \"kind\": "
          "\"weld\", \"parent\": {\"part\": \"lower\", "
          "\"interface\": \"tip\"}, \"child\": \"motor\"}, {\"name\": \"elbow\", "
          "\"kind\": \"hinge\", \"parent\": \"motor\", "
          "\"child\": \"horn\", \"position\": [0, 0, 0.3], \"axis\": [0, 1, 0]}, "
          "{\"name\": \"grip\", \"kind\": \"weld\", "
          "\"parent\": {\"part\": \"upper\", \"interface\": \"tip\"}, \"child\": "
          "\"weight\"}], \"curves\": {\"turn\": [[0.2, 0], [1, "
          "90], [1.5, 90], [2.3, 0]]}, \"motors\": [{\"joint\": \"elbow\", \"curve\": "
          "\"turn\", \"degrees\": true, \"between\": "
          "\"stops\"}], " TURN;

#endif
